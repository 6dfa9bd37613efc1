/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A report as a flame graph. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "output/lines.h"
#include "output/svg.h"

static int add_block(struct flame *flame, const struct line *line, uint64_t value,
                     struct flame_slice *frames)
{
    for (size_t i = 0; i < line->count; i++)
        frames[i] = (struct flame_slice){line->frames[i].name, strlen(line->frames[i].name)};
    return flame_add(flame, FLAME_NOW, frames, line->count, value, NULL);
}

static int add_blocks(struct flame *flame, const struct report *report)
{
    struct line line = {0};
    struct flame_slice *frames = NULL;
    size_t room = 0;
    int result = 0;

    for (size_t i = 0; i < report->blocks->count && !result; i++) {
        const struct block *block = &report->blocks->items[i];
        result = line_make(&line, report, block);
        if (!result)
            result = array_reserve(&frames, &room, line.count, sizeof(*frames));
        if (!result)
            result = add_block(flame, &line, blocks_shown_value(block->value, report->options),
                               frames);
    }
    free(frames);
    line_free(&line);
    return result;
}

static void add_raw(struct text *text, const char *before, const char *raw)
{
    text_add(text, before);
    escape_bytes(text, raw, strlen(raw));
}

/* Where and when it was, and what is missing. */
static void add_subtitle(struct text *text, const struct report_about *about,
                         const struct report_measure *measure)
{
    add_raw(text, "", about->command_line);
    add_raw(text, " on ", about->host);
    text_format(text, ", %.1f s, %llu %s", (double)(about->ended - about->began) / 1e9,
                (unsigned long long)about->events, measure->events);
    for (const char *line = about->losses; *line;) {
        size_t length = strcspn(line, "\n");
        text_add(text, "\n");
        escape_bytes(text, line, length);
        line += length + (line[length] == '\n');
    }
}

int report_svg_write(FILE *out, const struct report *report)
{
    const struct report_about *about = report->options->about;
    const struct report_measure *measure = &report->options->measure;
    struct text subtitle = {0};
    struct flame flame;
    int result = flame_init(&flame);

    if (!result)
        result = add_blocks(&flame, report);
    if (!result && about)
        add_subtitle(&subtitle, about, measure);
    if (subtitle.failed)
        result = -ENOMEM;
    if (!result) {
        const struct svg_options options = {
            .title = about ? about->applet : NULL,
            .subtitle = subtitle.data,
            .count_name = measure->value && report->options->unit > 1 ? "us" : measure->events,
        };
        result = svg_write(out, &flame, &options);
    }
    text_free(&subtitle);
    flame_free(&flame);
    return result;
}
