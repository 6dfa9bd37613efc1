/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The text that people read: a block of lines for each stack, the greatest last. */
#include "output/blocks.h"

static void write_block(FILE *out, const struct blocks *blocks, const struct block *block,
                        const struct report_options *options)
{
    for (size_t i = 0; i < block->frame_count; i++)
        fprintf(out, "%s\n", blocks->labels[block->frames[i]]);
    if (options->show_process)
        fprintf(out, "    %s [%s%u]\n", block->comm, block->foreign ? "host " : "", block->pid);
    fprintf(out, "    %llu\n\n", (unsigned long long)block->value);
}

void text_write(FILE *out, const struct blocks *blocks, const struct report_options *options,
                const struct tm *when)
{
    fputc('\n', out);
    if (options->timestamp)
        fprintf(out, "%02d:%02d:%02d\n", when->tm_hour, when->tm_min, when->tm_sec);
    for (size_t i = 0; i < blocks->count; i++)
        write_block(out, blocks, &blocks->items[i], options);
}
