/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/blocks.h"

#include <stdlib.h>
#include <string.h>

bool blocks_show_tasks(const struct report_options *options)
{
    if (options->layout != LAYOUT_STACKCOUNT)
        return true;
    return options->show_process && !(options->one_process && options->format == REPORT_TEXT);
}

bool blocks_show_wakers(const struct report_options *options)
{
    return options->layout == LAYOUT_WAKEUPTIME || options->layout == LAYOUT_OFFWAKETIME;
}

const char *blocks_events_name(const struct report_measure *measure)
{
    return measure->events ? measure->events : "events";
}

bool blocks_are_times(const struct report_options *options)
{
    return options->unit > 1 && options->measure.value && options->measure.unit &&
           !strcmp(options->measure.unit, "microseconds");
}

bool blocks_are_sums(const struct report_options *options)
{
    return options->measure.value && !options->measure.per_event && !blocks_are_times(options);
}

const char *blocks_value_name(const struct report_options *options)
{
    if (blocks_are_sums(options))
        return strcmp(options->measure.unit, "count") ? options->measure.unit : options->measure.value;
    return blocks_are_times(options)   ? "us"
           : options->measure.events ? options->measure.events
                                     : "samples";
}

const char *blocks_left_name(const struct report_options *options)
{
    return options->unit > 1           ? "us"
           : blocks_are_sums(options) ? blocks_value_name(options)
                                      : "events";
}

uint64_t blocks_shown_value(uint64_t value, const struct report_options *options)
{
    return options->unit ? value / options->unit : value;
}

bool blocks_show_numbers(const struct report_options *options)
{
    if (options->by == WHO_NAME)
        return false;
    return options->by != WHO_UNSAID || options->format == REPORT_TEXT ||
           options->format == REPORT_PPROF;
}

const char *blocks_numbers(char *room, const struct block_party *party,
                           const struct report_options *options)
{
    const char *host = party->foreign ? "host " : "";

    if (party->nobody || party->interrupt || !blocks_show_numbers(options))
        room[0] = '\0';
    else if (party->tid && party->tid != party->pid)
        snprintf(room, BLOCKS_NUMBERS_BYTES, " (%s%u/%u)", host, party->pid, party->tid);
    else
        snprintf(room, BLOCKS_NUMBERS_BYTES, " (%s%u)", host, party->pid);
    return room;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_tasks(const struct block_party *a, const struct block_party *b)
{
    int order = compare_numbers(a->pid, b->pid);

    if (!order)
        order = compare_numbers(a->tid, b->tid);
    return order ? order : compare_numbers(a->foreign, b->foreign);
}

static int compare_names(const struct block_party *a, const struct block_party *b, bool numbers)
{
    int order = strcmp(a->comm, b->comm);

    /* A task may be named "[no waker]", too. */
    if (!order)
        order = compare_numbers(a->nobody, b->nobody);
    if (!order)
        order = compare_numbers(a->interrupt, b->interrupt);
    return order || !numbers ? order : compare_tasks(a, b);
}

static int compare_frames(const struct block_party *a, const struct block_party *b)
{
    int order = 0;

    for (size_t i = 0; !order && i < a->frame_count && i < b->frame_count; i++)
        order = compare_numbers(a->frames[i], b->frames[i]);
    return order ? order : compare_numbers(a->frame_count, b->frame_count);
}

/* By name, pid, frames. Blocks whose printed lines are equal compare equal. */
static int compare_lines(const struct block *a, const struct block *b,
                         const struct report_options *options)
{
    bool numbers = blocks_show_numbers(options);
    int order = 0;

    if (blocks_show_tasks(options))
        order = compare_names(&a->task, &b->task, numbers);
    if (!order && blocks_show_wakers(options))
        order = compare_names(&a->waker, &b->waker, numbers);
    if (!order)
        order = compare_frames(&a->task, &b->task);
    return order ? order : compare_frames(&a->waker, &b->waker);
}

/* For sorting: qsort() passes no context. */
static const struct report_options *sorting_for;

static int compare_for_merge(const void *left, const void *right)
{
    return compare_lines(left, right, sorting_for);
}

static int compare_for_print(const void *left, const void *right)
{
    const struct block *a = left, *b = right;
    int order = compare_numbers(blocks_shown_value(a->value, sorting_for),
                                blocks_shown_value(b->value, sorting_for));

    return order ? order : compare_lines(a, b, sorting_for);
}

static int compare_by_task(const void *left, const void *right)
{
    return compare_tasks(&((const struct block *)left)->task, &((const struct block *)right)->task);
}

static int compare_by_waker(const void *left, const void *right)
{
    return compare_tasks(&((const struct block *)left)->waker,
                         &((const struct block *)right)->waker);
}

/* How many processes there are among equal blocks, whose order this sort leaves open. */
static uint32_t count_processes(struct block *equal, size_t count,
                                int (*compare)(const void *, const void *))
{
    uint32_t processes = 1;

    qsort(equal, count, sizeof(*equal), compare);
    for (size_t i = 1; i < count; i++)
        processes += compare(&equal[i - 1], &equal[i]) != 0;
    return processes;
}

/* Merges equal blocks. */
static struct block merge(struct block *equal, size_t count, const struct report_options *options)
{
    uint32_t processes = 1, wakers = 1;
    uint64_t sum = 0, events = 0, longest = 0;

    if (options->by == WHO_NAME) {
        processes = count_processes(equal, count, compare_by_task);
        wakers = count_processes(equal, count, compare_by_waker);
    }
    for (size_t i = 0; i < count; i++) {
        sum += equal[i].value, events += equal[i].events;
        longest = equal[i].longest > longest ? equal[i].longest : longest;
    }
    struct block merged = equal[0];
    merged.longest = longest;
    merged.value = sum;
    merged.events = events;
    merged.task.processes = processes;
    merged.waker.processes = wakers;
    return merged;
}

void blocks_merge(struct blocks *blocks, const struct report_options *options)
{
    size_t kept = 0, end;

    sorting_for = options;
    qsort(blocks->items, blocks->count, sizeof(*blocks->items), compare_for_merge);
    for (size_t first = 0; first < blocks->count; first = end) {
        end = first + 1;
        while (end < blocks->count &&
               !compare_lines(&blocks->items[first], &blocks->items[end], options))
            end++;
        blocks->items[kept++] = merge(&blocks->items[first], end - first, options);
    }
    blocks->count = kept;
    qsort(blocks->items, blocks->count, sizeof(*blocks->items), compare_for_print);
}

void blocks_keep_top(struct blocks *blocks, const struct report_options *options,
                     struct report_summary *summary)
{
    uint64_t top = options->top;
    size_t left = top && blocks->count > top ? blocks->count - (size_t)top : 0;

    /* Cuts the smallest off the front. */
    for (size_t i = 0; i < blocks->count; i++)
        *(i < left ? &summary->left_value : &summary->value) += blocks->items[i].value;
    memmove(blocks->items, blocks->items + left, (blocks->count - left) * sizeof(*blocks->items));
    blocks->count -= left;
    summary->value = blocks_shown_value(summary->value, options);
    summary->left_value = blocks_shown_value(summary->left_value, options);
    summary->left_blocks = left;
    summary->blocks = blocks->count;
}
