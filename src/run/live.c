/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/terminal.h"
#include "base/util.h"
#include "run/counting.h"
#include "run/progress.h"

/* Making reports takes at most part of the time, whatever was asked for. */
#define PAUSES 4

/* ---- The terminal ---- */

/* A command's input and output would mix with our keys and drawing. */
static int share_with_command(void)
{
    if (isatty(STDERR_FILENO)) {
        say("--live: the command's output would garble the view: redirect it, such as 2>FILE");
        return EXIT_USAGE;
    }
    int nothing = isatty(STDIN_FILENO) ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
    if (nothing >= 0) {
        dup2(nothing, STDIN_FILENO);
        close(nothing);
    }
    return 0;
}

int live_open(struct live *live, const struct trace_options *options)
{
    *live = (struct live){.options = options};
    if (!options->live)
        return 0;
    int result = terminal_open();
    if (result && result != -ENOTTY)
        say("reports are printed one after another: the terminal could not be set up: "
            "%s", strerror(-result));
    live->drawn = !result;
    screen_init(&live->screen);
    return live->drawn && options->command ? share_with_command() : 0;
}

void live_close(struct live *live)
{
    terminal_close();
    live->drawn = false;
    if (say_aside == &live->said) {
        say_aside = NULL;
        (void)write_all(STDERR_FILENO, live->said.data, live->said.length);
    }
    text_free(&live->said);
    text_free(&live->status);
    free(live->report);
    live->report = NULL;
}

/* ---- Showing ---- */

void live_look(struct live *live)
{
    struct text bytes = {0};
    struct terminal_size size;
    bool anew;

    if (!live->drawn || !terminal_enter(&anew))
        return;
    /* Messages printed meanwhile would be drawn over. */
    if (anew && isatty(STDERR_FILENO))
        say_aside = &live->said;
    if (anew)
        screen_forget(&live->screen);
    /* A terminal that does not tell its size is asked; its answer holds until the next time. */
    if (!terminal_size(STDOUT_FILENO, &size))
        return;
    if (size.rows && size.columns)
        screen_resize(&live->screen, size.rows, size.columns);
    else if (anew)
        terminal_ask_size();
    screen_draw(&live->screen, text_string(&live->status), &bytes);
    terminal_draw(&bytes);
    text_free(&bytes);
}

bool live_is_due(const struct live *live)
{
    return live->options->live && !live->screen.paused && now_ns() >= live->due;
}

static int make_report(struct live *live, struct counting *counting)
{
    char *report = NULL;
    size_t length;
    FILE *out = open_memstream(&report, &length);
    int result = out ? counting_print_report(counting, out) : -ENOMEM;

    if (out && fclose(out) && !result)
        result = -ENOMEM;
    if (result) {
        free(report);
        return result;
    }
    free(live->report);
    live->report = report;
    screen_set_text(&live->screen, report);
    return 0;
}

static int print_report(struct counting *counting)
{
    progress_make_way();
    int result = counting_print_report(counting, stdout);

    errno = 0;
    if (!result && (fputc('\n', stdout) < 0 || fflush(stdout)))
        result = errno ? -errno : -EIO;
    return result;
}

int live_show(struct live *live, struct counting *counting, uint64_t lost)
{
    uint64_t began = now_ns();
    int result = live->drawn ? make_report(live, counting) : print_report(counting);

    text_clear(&live->status);
    text_format(&live->status, "%s: %.1f s, %llu %s, %llu lost", say_as,
                run_elapsed(&counting->session.run), (unsigned long long)counting->events,
                counting->report.measure.events,
                (unsigned long long)lost);
    uint64_t ended = now_ns(), pause = (ended - began) * PAUSES;
    live->due = ended + (pause > live->options->live_every ? pause : live->options->live_every);
    return result;
}

/* ---- Keys ---- */

bool live_read_keys(struct live *live)
{
    unsigned char typed[64];
    ssize_t got = read(terminal_keys(), typed, sizeof(typed));

    if (got <= 0)
        return got == 0 || (errno != EINTR && errno != EAGAIN && errno != EIO);
    for (ssize_t i = 0; i < got; i++) {
        enum key key = keys_take(&live->keys, typed[i]);
        if (key == KEY_SIZE)
            screen_resize(&live->screen, live->keys.numbers[0], live->keys.numbers[1]);
        else
            screen_press(&live->screen, key);
        if (key == KEY_REDRAW)
            terminal_ask_size();
    }
    live_look(live);
    return live->screen.ended;
}
