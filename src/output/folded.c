/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Folded stacks: a line for each, root first, as flame graph tools take it. */
#include "output/blocks.h"

static void write_line(FILE *out, const struct blocks *blocks, const struct block *block,
                       const struct report_options *options, const struct tm *when)
{
    if (options->time_as_root)
        fprintf(out, "%02d:%02d:%02d;", when->tm_hour, when->tm_min, when->tm_sec);
    if (options->show_process) {
        fputs(block->comm, out);
        if (options->split_processes)
            fprintf(out, block->foreign ? "-host-%u" : "-%u", block->pid);
        fputc(';', out);
    }
    for (size_t i = 0; i < block->frame_count; i++)
        fprintf(out, i ? ";%s" : "%s", blocks->labels[block->frames[i]]);
    fprintf(out, " %llu\n", (unsigned long long)block->value);
}

void folded_write(FILE *out, const struct blocks *blocks, const struct report_options *options,
                  const struct tm *when)
{
    for (size_t i = 0; i < blocks->count; i++)
        write_line(out, blocks, &blocks->items[i], options, when);
}
