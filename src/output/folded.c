/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Folded stacks: a line for each, root first, as flame graph tools take it. */
#include <string.h>

#include "output/blocks.h"

/* A frame may hold anything but the sign that parts frames. */
static void write_frame(FILE *out, const char *frame)
{
    for (; *frame; frame++)
        fputc(*frame == ';' ? ':' : *frame, out);
}

/* Readers take a last frame that ends in a blank and a number for a line with two counts. */
static void write_last_frame(FILE *out, const char *frame)
{
    const char *blank = strrchr(frame, ' ');
    bool number = blank && blank[1] && !blank[1 + strspn(blank + 1, "0123456789.")];

    for (; *frame; frame++)
        fputc(*frame == ';' ? ':' : number && frame == blank ? '_' : *frame, out);
}

static void write_line(FILE *out, const struct blocks *blocks, const struct block *block,
                       const struct report_options *options, const struct tm *when)
{
    if (options->time_as_root)
        fprintf(out, "%02d:%02d:%02d;", when->tm_hour, when->tm_min, when->tm_sec);
    if (options->show_process) {
        write_frame(out, block->comm);
        if (options->split_processes)
            fprintf(out, block->foreign ? "-host-%u" : "-%u", block->pid);
        fputc(';', out);
    }
    for (size_t i = 0; i < block->frame_count; i++) {
        const char *frame = blocks->labels[block->frames[i]];
        if (i + 1 < block->frame_count) {
            write_frame(out, frame);
            fputc(';', out);
        } else {
            write_last_frame(out, frame);
        }
    }
    fprintf(out, " %llu\n", (unsigned long long)block->value);
}

void folded_write(FILE *out, const struct blocks *blocks, const struct report_options *options,
                  const struct tm *when)
{
    for (size_t i = 0; i < blocks->count; i++)
        write_line(out, blocks, &blocks->items[i], options, when);
}
