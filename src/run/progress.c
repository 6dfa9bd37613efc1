/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/util.h"
#include "flame/svg.h"
#include "run/progress.h"

#define EVERY_NS 1000000000
/* Ticks are not exact: a line that is early by less than this is shown all the same. */
#define EARLY_NS 50000000
/* The time that a reader of stdout has to write something to the terminal. */
#define WAY_NS 200000000
#define ERASE "\r\033[K" /* this line, from its start */

static bool shown;   /* the line is visible */
static uint64_t due; /* when the next one may be shown */

/* In the background the terminal would stop us, or the shell's line would be overwritten. */
static bool is_in_foreground(void)
{
    return tcgetpgrp(STDERR_FILENO) == getpgrp();
}

bool progress_is_wanted(void)
{
    if (!terminal_places_text(STDERR_FILENO) || isatty(STDOUT_FILENO))
        return false;
    before_say = progress_clear;
    return true;
}

bool progress_is_due(void)
{
    return now_ns() >= due && is_in_foreground() && terminal_takes_text(STDERR_FILENO);
}

static void add_figure(struct text *line, uint64_t number, const char *one, const char *many)
{
    text_add(line, ", ");
    svg_add_number(line, number);
    text_format(line, " %s", number == 1 ? one : many);
}

static void add_figures(struct text *line, const struct progress_figures *figures)
{
    text_format(line, "%.1f", figures->elapsed);
    if (figures->duration > 0)
        text_format(line, " of %.10g", figures->duration);
    text_add(line, " s");
    if (!figures->counted)
        return;
    add_figure(line, figures->events, "event", "events");
    if (!figures->no_stacks)
        add_figure(line, figures->stacks, "stack", "stacks");
    add_figure(line, figures->lost, "lost", "lost");
}

void progress_show(const struct progress_figures *figures)
{
    struct text line = {0};
    size_t most = strlen(ERASE) + terminal_width(STDERR_FILENO) - 1; /* the last one may wrap */

    text_add(&line, ERASE);
    add_figures(&line, figures);
    if (!line.failed)
        (void)!write(STDERR_FILENO, line.data, line.length < most ? line.length : most);
    shown = true;
    due = now_ns() + EVERY_NS - EARLY_NS;
    text_free(&line);
}

void progress_clear(void)
{
    /* After being stopped and continued in the background, the shell's line is in front of it. */
    if (shown && is_in_foreground())
        (void)!write(STDERR_FILENO, ERASE, strlen(ERASE));
    shown = false;
}

void progress_make_way(void)
{
    struct stat about;

    if (!fstat(STDOUT_FILENO, &about) && (S_ISREG(about.st_mode) || S_ISCHR(about.st_mode)))
        return;
    progress_clear();
    due = now_ns() + WAY_NS;
}
