/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Folded stacks: a line for each, root first, as flame graph tools take it. */
#include "output/blocks.h"

static void write_frames(FILE *out, const struct blocks *blocks, const struct block_party *party)
{
    for (size_t i = 0; i < party->frame_count; i++)
        fprintf(out, i ? ";%s" : "%s", blocks->labels[party->frames[i]]);
}

/* A name that stands at the root, with the sign before what follows. */
static void write_root(FILE *out, const struct block_party *party,
                       const struct report_options *options)
{
    fputs(party->comm, out);
    if (options->split_processes && !options->by_name && !party->nobody)
        fprintf(out, party->foreign ? "-host-%u" : "-%u", party->number);
    fputc(';', out);
}

/* The waker's stack has the target as its leaf. */
static void write_wake(FILE *out, const struct blocks *blocks, const struct block *block,
                       const struct report_options *options)
{
    write_root(out, &block->waker, options);
    write_frames(out, blocks, &block->waker);
    if (block->waker.frame_count)
        fputc(';', out);
    write_frames(out, blocks, &block->task);
    if (block->task.frame_count)
        fputc(';', out);
    fputs(block->task.comm, out);
}

/* The target's stack, and on it the waker's upside down: they meet at `--`. */
static void write_wait_and_wake(FILE *out, const struct blocks *blocks, const struct block *block,
                                const struct report_options *options)
{
    write_root(out, &block->task, options);
    write_frames(out, blocks, &block->task);
    fputs(";--;", out);
    write_frames(out, blocks, &block->waker);
    if (block->waker.frame_count)
        fputc(';', out);
    fputs(block->waker.comm, out);
}

static void write_line(FILE *out, const struct blocks *blocks, const struct block *block,
                       const struct report_options *options, const struct tm *when)
{
    if (options->time_as_root)
        fprintf(out, "%02d:%02d:%02d;", when->tm_hour, when->tm_min, when->tm_sec);
    if (block->nobodys) {
        write_frames(out, blocks, &block->task);
    } else if (options->layout == LAYOUT_WAKEUPTIME) {
        write_wake(out, blocks, block, options);
    } else if (options->layout == LAYOUT_OFFWAKETIME) {
        write_wait_and_wake(out, blocks, block, options);
    } else {
        if (blocks_show_tasks(options))
            write_root(out, &block->task, options);
        write_frames(out, blocks, &block->task);
    }
    fprintf(out, " %llu\n", (unsigned long long)blocks_shown_value(block->value, options));
}

void folded_write(FILE *out, const struct blocks *blocks, const struct report_options *options,
                  const struct tm *when)
{
    for (size_t i = 0; i < blocks->count; i++)
        write_line(out, blocks, &blocks->items[i], options, when);
}
