/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reports to read: a block of lines per stack, greatest last; folded; and who waits for whom. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "report/blocks.h"

static void write_frames(FILE *out, const struct blocks *blocks, const struct block_task *task)
{
    for (size_t i = 0; i < task->frame_count; i++)
        fprintf(out, "%s\n", blocks->labels[task->frames[i]]);
}

/* A name and its numbers: (7), (7/8), or, if tasks are merged by name, the number of processes. */
static void write_who(FILE *out, const struct block_task *task,
                      const struct report_options *options)
{
    char numbers[BLOCKS_NUMBERS_BYTES];

    fprintf(out, "%s%s", task->comm, blocks_numbers(numbers, task, options));
    if (options->by == GROUP_BY_NAME && !task->absent && !task->interrupt)
        fprintf(out, " (%u %s)", task->processes, task->processes == 1 ? "process" : "processes");
}

/* The same on a line of its own, after a label in a column. */
static void write_name(FILE *out, const char *what, const struct block_task *task,
                       const struct report_options *options)
{
    fprintf(out, "    %-16s ", what);
    write_who(out, task, options);
    fputc('\n', out);
}

/*
 * In offwaketime's layout from the waker's root up to the wakeup, and from the wait down to the
 * target's root.
 */
static void write_block(FILE *out, const struct blocks *blocks, const struct block *block,
                        const struct report_options *options)
{
    const enum report_layout layout = options->layout;

    if (layout == LAYOUT_OFFWAKETIME && !block->of_many) {
        write_name(out, "waker:", &block->waker, options);
        write_frames(out, blocks, &block->waker);
        fprintf(out, "    %-16s --\n", "--");
    } else if (layout == LAYOUT_WAKEUPTIME && !block->of_many) {
        write_name(out, "target:", &block->task, options);
    }
    write_frames(out, blocks, &block->task);
    if (layout == LAYOUT_STACKCOUNT && !block->of_many && blocks_show_tasks(options)) {
        fputs("    ", out);
        write_who(out, &block->task, options);
        fputc('\n', out);
    } else if (layout == LAYOUT_WAKEUPTIME && !block->of_many) {
        write_frames(out, blocks, &block->waker);
        write_name(out, "waker:", &block->waker, options);
    } else if (layout != LAYOUT_STACKCOUNT && !block->of_many) {
        write_name(out, layout == LAYOUT_PROFILE ? "-" : "target:", &block->task, options);
    }
    const bool has_unit = blocks_are_sums(options);
    fprintf(out, "%s%llu%s%s\n\n", layout == LAYOUT_STACKCOUNT ? "    " : "        ",
            (unsigned long long)blocks_shown_value(block->value, options), has_unit ? " " : "",
            has_unit ? blocks_value_name(options) : "");
}

int text_write(FILE *out, const struct report *report)
{
    fputc('\n', out);
    blocks_write_time(out, report);
    for (size_t i = 0; i < report->blocks->count; i++)
        write_block(out, report->blocks, &report->blocks->items[i], report->options);
    return 0;
}

/* ---- Folded: a line per stack, root first, for flame graph tools ---- */

/* A line that begins with # and a blank is a comment: a thread may have such a name. */
static void print_first(FILE *out, const char *name, bool is_all)
{
    const bool is_comment = *name == '#' && (name[1] ? name[1] == ' ' || name[1] == '\t' : is_all);

    fprintf(out, is_comment ? "\\x23%s" : "%s", name + is_comment);
}

int folded_write(FILE *out, const struct report *report)
{
    const struct blocks *blocks = report->blocks;
    struct line line = {0};
    int result = 0;

    for (size_t i = 0; i < blocks->count && !result; i++) {
        const struct block *block = &blocks->items[i];
        result = line_make(&line, report, block);
        if (line.count && !result)
            print_first(out, line.frames[0].name, line.count == 1);
        for (size_t at = 1; at < line.count && !result; at++)
            fprintf(out, ";%s", line.frames[at].name);
        if (!result)
            fprintf(out, " %llu\n",
                    (unsigned long long)blocks_shown_value(block->value, report->options));
    }
    line_free(&line);
    return result;
}

/* Who waits for whom: one line per pair, without stacks, longest time first. */

#define USUAL_LINES 10

struct pair {
    struct text waiter, waker; /* as they are printed */
    uint64_t value, events, longest;
};

static int compare_texts(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;

    return strcmp(a->waiter.data, b->waiter.data) ?: strcmp(a->waker.data, b->waker.data);
}

static int compare_for_print(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;

    return order_of(b->value, a->value) ?: compare_texts(a, b);
}

static void free_pair(struct pair *pair)
{
    text_free(&pair->waiter);
    text_free(&pair->waker);
}

/* Returns how many there are. */
static size_t merge_pairs(struct pair *pairs, size_t count)
{
    size_t kept = 0;

    qsort(pairs, count, sizeof(*pairs), compare_texts);
    for (size_t i = 0; i < count; i++) {
        if (!kept || compare_texts(&pairs[kept - 1], &pairs[i])) {
            pairs[kept++] = pairs[i];
            continue;
        }
        struct pair *same = &pairs[kept - 1];
        same->value += pairs[i].value;
        same->events += pairs[i].events;
        if (pairs[i].longest > same->longest)
            same->longest = pairs[i].longest;
        free_pair(&pairs[i]);
    }
    qsort(pairs, kept, sizeof(*pairs), compare_for_print);
    return kept;
}

static void print_pairs(FILE *out, const struct report *report, const struct pair *pairs,
                        size_t count)
{
    const struct report_options *options = report->options;
    size_t most = options->top ? (size_t)options->top : USUAL_LINES;
    uint64_t left = 0;

    blocks_write_time(out, report);
    fprintf(out, "\n%12s %9s %12s  %s\n", "time (us)", "waits", "longest (us)",
            "who waited <- who ended it");
    for (size_t i = 0; i < count; i++)
        if (i < most)
            fprintf(out, "%12llu %9llu %12llu  %s <- %s\n",
                    (unsigned long long)blocks_shown_value(pairs[i].value, options),
                    (unsigned long long)pairs[i].events,
                    (unsigned long long)blocks_shown_value(pairs[i].longest, options),
                    pairs[i].waiter.data, pairs[i].waker.data);
        else
            left += pairs[i].value;
    if (count > most)
        fprintf(out, "%12llu  in %zu more pairs (--top)\n",
                (unsigned long long)blocks_shown_value(left, options), count - most);
    fputc('\n', out);
}

int pairs_write(FILE *out, const struct report *report)
{
    const struct blocks *blocks = report->blocks;
    struct pair *pairs = calloc(blocks->count + 1, sizeof(*pairs));
    size_t count = 0;
    int result = pairs ? 0 : -ENOMEM;

    for (size_t i = 0; i < blocks->count && !result; i++) {
        const struct block *block = &blocks->items[i];
        struct pair *pair = &pairs[count++];
        *pair = (struct pair){
            .value = block->value, .events = block->events, .longest = block->longest};
        if (block->of_many) {
            text_add(&pair->waiter, "[table full]");
            text_add(&pair->waker, "[table full]");
        } else {
            blocks_add_who(&pair->waiter, &block->task, report->options);
            blocks_add_who(&pair->waker, &block->waker, report->options);
        }
        result = pair->waiter.failed || pair->waker.failed ? -ENOMEM : 0;
    }
    if (!result) {
        count = merge_pairs(pairs, count);
        print_pairs(out, report, pairs, count);
    }
    for (size_t i = 0; i < count; i++)
        free_pair(&pairs[i]);
    free(pairs);
    return result;
}
