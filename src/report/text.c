/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The text for people: a block of lines per stack, greatest last. */
#include "report/blocks.h"

static void write_frames(FILE *out, const struct blocks *blocks, const struct block_party *party)
{
    for (size_t i = 0; i < party->frame_count; i++)
        fprintf(out, "%s\n", blocks->labels[party->frames[i]]);
}

/* A name and its numbers: (7), (7/8), or, if tasks are merged by name, the number of processes. */
static void write_who(FILE *out, const struct block_party *party,
                      const struct report_options *options)
{
    char numbers[BLOCKS_NUMBERS_BYTES];

    fprintf(out, "%s%s", party->comm, blocks_numbers(numbers, party, options));
    if (options->by == WHO_NAME && !party->nobody && !party->interrupt)
        fprintf(out, " (%u %s)", party->processes, party->processes == 1 ? "process" : "processes");
}

/* One such line, if the layout has a column for its label. */
static void write_name(FILE *out, const char *what, const struct block_party *party,
                       const struct report_options *options)
{
    fprintf(out, "    %-16s ", what);
    write_who(out, party, options);
    fputc('\n', out);
}

static void write_stackcount(FILE *out, const struct blocks *blocks, const struct block *block,
                             const struct report_options *options)
{
    write_frames(out, blocks, &block->task);
    if (!blocks_show_tasks(options))
        return;
    fputs("    ", out);
    write_who(out, &block->task, options);
    fputc('\n', out);
}

static void write_profile(FILE *out, const struct blocks *blocks, const struct block *block,
                          const struct report_options *options)
{
    write_frames(out, blocks, &block->task);
    write_name(out, "-", &block->task, options);
}

static void write_wakeuptime(FILE *out, const struct blocks *blocks, const struct block *block,
                             const struct report_options *options)
{
    write_name(out, "target:", &block->task, options);
    write_frames(out, blocks, &block->task);
    write_frames(out, blocks, &block->waker);
    write_name(out, "waker:", &block->waker, options);
}

/* From the waker's root up to the wakeup, and from the wait down to the target's root. */
static void write_offwaketime(FILE *out, const struct blocks *blocks, const struct block *block,
                              const struct report_options *options)
{
    write_name(out, "waker:", &block->waker, options);
    write_frames(out, blocks, &block->waker);
    fprintf(out, "    %-16s %s\n", "--", "--");
    write_frames(out, blocks, &block->task);
    write_name(out, "target:", &block->task, options);
}

static void write_of_layout(FILE *out, const struct blocks *blocks, const struct block *block,
                            const struct report_options *options)
{
    switch (options->layout) {
    case LAYOUT_STACKCOUNT:
        write_stackcount(out, blocks, block, options);
        break;
    case LAYOUT_PROFILE:
        write_profile(out, blocks, block, options);
        break;
    case LAYOUT_WAKEUPTIME:
        write_wakeuptime(out, blocks, block, options);
        break;
    case LAYOUT_OFFWAKETIME:
        write_offwaketime(out, blocks, block, options);
        break;
    }
}

static void write_block(FILE *out, const struct blocks *blocks, const struct block *block,
                        const struct report_options *options)
{
    if (block->nobodys)
        write_frames(out, blocks, &block->task);
    else
        write_of_layout(out, blocks, block, options);
    fprintf(out, "%s%llu%s%s\n\n", options->layout == LAYOUT_STACKCOUNT ? "    " : "        ",
            (unsigned long long)blocks_shown_value(block->value, options), blocks_are_sums(options) ? " " : "",
            blocks_are_sums(options) ? blocks_value_name(options) : "");
}

int text_write(FILE *out, const struct report *report)
{
    const struct blocks *blocks = report->blocks;
    const struct tm *when = report->when;

    fputc('\n', out);
    if (report->options->timestamp)
        fprintf(out, "%02d:%02d:%02d\n", when->tm_hour, when->tm_min, when->tm_sec);
    for (size_t i = 0; i < blocks->count; i++)
        write_block(out, blocks, &blocks->items[i], report->options);
    return 0;
}
