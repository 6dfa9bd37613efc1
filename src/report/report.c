/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/util.h"
#include "report/blocks.h"

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
        return strcmp(options->measure.unit, "count") ? options->measure.unit
            : options->measure.value;
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

void blocks_write_time(FILE *out, const struct report *report)
{
    const struct tm *when = report->when;

    if (report->options->timestamp)
        fprintf(out, "%02d:%02d:%02d\n", when->tm_hour, when->tm_min, when->tm_sec);
}

uint64_t blocks_shown_value(uint64_t value, const struct report_options *options)
{
    return options->unit ? value / options->unit : value;
}

/* Are the numbers of tasks printed? In formats of lines only if asked for. */
static bool blocks_show_numbers(const struct report_options *options)
{
    if (options->by == GROUP_BY_NAME)
        return false;
    return options->by != GROUP_UNSET || options->format == REPORT_TEXT ||
           options->format == REPORT_PPROF;
}

const char *blocks_numbers(char *room, const struct block_task *task,
                           const struct report_options *options)
{
    const char *host = task->foreign ? "host " : "";

    if (task->absent || task->interrupt || !blocks_show_numbers(options))
        room[0] = '\0';
    else if (task->tid && task->tid != task->pid)
        snprintf(room, BLOCKS_NUMBERS_BYTES, " (%s%u/%u)", host, task->pid, task->tid);
    else
        snprintf(room, BLOCKS_NUMBERS_BYTES, " (%s%u)", host, task->pid);
    return room;
}

void blocks_add_who(struct text *who, const struct block_task *task,
                    const struct report_options *options)
{
    char numbers[BLOCKS_NUMBERS_BYTES];

    text_add(who, task->comm);
    text_add(who, blocks_numbers(numbers, task, options));
}

static int compare_tasks(const struct block_task *a, const struct block_task *b)
{
    return order_of(a->pid, b->pid) ?: order_of(a->tid, b->tid) ?: order_of(a->foreign, b->foreign);
}

static int compare_names(const struct block_task *a, const struct block_task *b, bool numbers)
{
    /* A task may be named "[no waker]", too. */
    return strcmp(a->comm, b->comm) ?: order_of(a->absent, b->absent)
        ?: order_of(a->interrupt, b->interrupt) ?: numbers ? compare_tasks(a, b) : 0;
}

static int compare_frames(const struct block_task *a, const struct block_task *b)
{
    int order = 0;

    for (size_t i = 0; !order && i < a->frame_count && i < b->frame_count; i++)
        order = order_of(a->frames[i], b->frames[i]);
    return order ?: order_of(a->frame_count, b->frame_count);
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
    return order ?: compare_frames(&a->task, &b->task) ?: compare_frames(&a->waker, &b->waker);
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

    return order_of(blocks_shown_value(a->value, sorting_for),
                    blocks_shown_value(b->value, sorting_for))
        ?: compare_lines(a, b, sorting_for);
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
static struct block merge_equal(struct block *equal, size_t count,
                                const struct report_options *options)
{
    const bool by_name = options->by == GROUP_BY_NAME;
    const uint32_t processes = by_name ? count_processes(equal, count, compare_by_task) : 1;
    const uint32_t wakers = by_name ? count_processes(equal, count, compare_by_waker) : 1;
    struct block merged = equal[0];

    merged.task.processes = processes;
    merged.waker.processes = wakers;
    for (size_t i = 1; i < count; i++) {
        merged.value += equal[i].value;
        merged.events += equal[i].events;
        if (merged.longest < equal[i].longest)
            merged.longest = equal[i].longest;
    }
    return merged;
}

/* Merges blocks whose printed lines are equal, and sorts them all. */
static void blocks_merge(struct blocks *blocks, const struct report_options *options)
{
    size_t kept = 0, end;

    sorting_for = options;
    qsort(blocks->items, blocks->count, sizeof(*blocks->items), compare_for_merge);
    for (size_t first = 0; first < blocks->count; first = end) {
        end = first + 1;
        while (end < blocks->count &&
               !compare_lines(&blocks->items[first], &blocks->items[end], options))
            end++;
        blocks->items[kept++] = merge_equal(&blocks->items[first], end - first, options);
    }
    blocks->count = kept;
    qsort(blocks->items, blocks->count, sizeof(*blocks->items), compare_for_print);
}

/* Keeps the options->top greatest. */
static void blocks_keep_top(struct blocks *blocks, const struct report_options *options,
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

struct making {
    const struct tally *tally;
    const struct symbols *symbols;
    const struct report_options *options;
    struct labels labels;
    struct blocks blocks;
    char **comms; /* as printed: for every entry the task's, then the waker's */
    size_t comm_count;
    bool *leading;    /* for each label, if asked for */
    uint32_t *frames; /* of all blocks */
    size_t frame_count;
    uint64_t most_value, most_events; /* of an entry */
};

/* ---- Names ---- */

/* Is this task's name the last frame of a line? */
static bool name_ends_line(const struct report_options *options, bool waker)
{
    if (options->format != REPORT_FOLDED || blocks_show_numbers(options))
        return false;
    return options->layout == (waker ? LAYOUT_OFFWAKETIME : LAYOUT_WAKEUPTIME);
}

static char *shown_comm(const char *name, const struct report_options *options, bool waker,
                        enum interrupt interrupt)
{
    struct text comm = {0};

    if (interrupt)
        text_format(&comm, "%s%s", interrupts_name(interrupt), *name ? " on " : "");
    escape_bytes(&comm, name, strnlen(name, COMM_BYTES));
    if (!comm.length)
        text_add(&comm, "[unknown]");
    if (comm.failed)
        text_free(&comm);
    else if (options->format == REPORT_FOLDED)
        labels_fold(comm.data);
    if (comm.data && name_ends_line(options, waker))
        labels_make_last(comm.data);
    return comm.data;
}

/* ---- Frames ---- */

/* Not if addresses are shown: they are all that is known about such frames. */
static bool collapses_towers(const struct report_options *options)
{
    return !(options->verbose && options->format == REPORT_TEXT);
}

/* How many unknown frames there are from the `at`th on. */
static uint32_t tower_at(const struct symbols *symbols, const struct stack *stack, size_t first,
                         uint32_t at)
{
    uint32_t end = at;

    while (end < stack->count && labels_is_unknown(&symbols->items[symbols->frames[first + end]]))
        end++;
    return end - at;
}

static size_t highest_of(const struct symbols *symbols, const struct stack *stack, size_t first)
{
    uint32_t highest = 0;

    for (uint32_t at = 0, height; at < stack->count; at += height + 1) {
        height = tower_at(symbols, stack, first, at);
        highest = height > highest ? height : highest;
    }
    return highest;
}

static size_t highest_tower(const struct making *making)
{
    const struct tally *tally = making->tally;
    size_t highest = 0;

    if (!collapses_towers(making->options))
        return 0;
    for (size_t i = 0; i < tally->count; i++) {
        const struct tally_entry *entry = &tally->entries[i];
        size_t user = making->symbols->first[i] + entry->task.kernel.count;
        size_t waker = user + entry->task.user.count + entry->waker.kernel.count;
        size_t task = highest_of(making->symbols, &entry->task.user, user);
        size_t other = highest_of(making->symbols, &entry->waker.user, waker);
        highest = task > highest ? task : highest;
        highest = other > highest ? other : highest;
    }
    return highest;
}

/* The items of one stack, leaf first; returns how many. */
static size_t put_items(const struct making *making, const struct stack *stack, size_t first,
                        uint32_t *to)
{
    bool collapses = collapses_towers(making->options);
    size_t count = 0;

    for (uint32_t at = 0, height; at < stack->count; at += height) {
        height = collapses ? tower_at(making->symbols, stack, first, at) : 0;
        to[count++] = height > 1 ? labels_tower(&making->labels, height)
                                 : making->symbols->frames[first + at];
        height = height ? height : 1;
    }
    return count;
}

static void turn_over(uint32_t *items, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        uint32_t item = items[i];
        items[i] = items[count - 1 - i];
        items[count - 1 - i] = item;
    }
}

/* Puts the labels of one stack at `to`, leaf first or root first; returns how many. */
static size_t add_stack(const struct making *making, const struct stack *stack, size_t first,
                        bool root_first, uint32_t *to)
{
    if (stack->state == STACK_FULL) {
        *to = labels_special(&making->labels, FULL_FRAME);
        return 1;
    }
    size_t count = put_items(making, stack, first, to);
    if (root_first)
        turn_over(to, count);
    return count;
}

/* stackcount has a delimiter even if one of the stacks is empty. */
static bool is_delimited(const struct tally_task *task, const struct report_options *options)
{
    if (!options->delimited || !options->kernel || !options->user)
        return false;
    return options->layout == LAYOUT_STACKCOUNT ||
           (task->kernel.state != STACK_NONE && task->user.state != STACK_NONE);
}

/*
 * The labels of a task, whose frames begin at `first`. Leaf first: kernel, then user; root first:
 * user, then kernel. Returns how many.
 */
static size_t add_labels(const struct making *making, const struct tally_task *task, size_t first,
                         bool root_first, uint32_t *to)
{
    const struct stack *stacks[2] = {&task->kernel, &task->user};
    const size_t firsts[2] = {first, first + task->kernel.count};
    size_t count = 0;

    if (task->kernel.state == STACK_NONE && task->user.state == STACK_NONE)
        to[count++] = labels_special(&making->labels, NO_STACK_FRAME);
    count += add_stack(making, stacks[root_first], firsts[root_first], root_first, to + count);
    if (is_delimited(task, making->options))
        to[count++] = labels_special(&making->labels, DELIMITER_FRAME);
    return count + add_stack(making, stacks[!root_first], firsts[!root_first], root_first,
                             to + count);
}

/* The mark of an unfinished wait, or a thread's state, is the root of its stack. */
static size_t add_mark(const struct making *making, const struct tally_entry *entry, uint32_t *to)
{
    enum special_frame frame = entry->mark == MARK_UNFINISHED  ? UNFINISHED_FRAME
                               : entry->mark == MARK_ALL_ALONG ? ALL_ALONG_FRAME
                               : entry->mark == MARK_NOT_SAMPLED
                                   ? RUNNING_FRAME
                                   : RUNNING_FRAME + (entry->mark - MARK_RUNNING);

    if (entry->mark == MARK_NONE)
        return 0;
    *to = labels_special(&making->labels, frame);
    return 1;
}

static size_t add_task(const struct making *making, size_t index, uint32_t *to)
{
    const struct tally_entry *entry = &making->tally->entries[index];
    bool root_first = making->options->format != REPORT_TEXT;
    size_t count = root_first ? add_mark(making, entry, to) : 0;

    if (entry->mark == MARK_NOT_SAMPLED)
        to[count++] = labels_special(&making->labels, NOT_SAMPLED_FRAME);
    else if (making->options->layout != LAYOUT_WAKEUPTIME)
        count += add_labels(making, &entry->task, making->symbols->first[index], root_first,
                            to + count);
    return root_first ? count : count + add_mark(making, entry, to + count);
}

/* offwaketime has them inverted, so that they meet the target's. */
static size_t add_waker(const struct making *making, size_t index, uint32_t *to)
{
    const struct tally_entry *entry = &making->tally->entries[index];
    const struct report_options *options = making->options;
    size_t first = making->symbols->first[index] + entry->task.kernel.count +
                   entry->task.user.count;
    bool root_first = options->format != REPORT_TEXT;

    if (!blocks_show_wakers(options) || !entry->has_waker)
        return 0;
    return add_labels(making, &entry->waker, first,
                      (options->layout == LAYOUT_OFFWAKETIME) != root_first, to);
}

/* ---- Blocks ---- */

/* The frames added last become this task's, as indices of labels. */
static void take_frames(struct making *making, struct block_task *shown, size_t count,
                        bool ends_line)
{
    const struct labels *labels = &making->labels;
    uint32_t *items = making->frames + making->frame_count;

    for (size_t i = 0; i < count; i++)
        items[i] = ends_line && i + 1 == count ? labels->as_last[items[i]]
                                               : labels->ranks[items[i]];
    shown->frames = items;
    shown->frame_count = count;
    making->frame_count += count;
}

static int take_name(struct making *making, struct block_task *shown,
                     const struct tally_task *task, bool waker)
{
    const struct report_options *options = making->options;
    bool of_process = options->names && options->by != GROUP_BY_THREAD &&
        blocks_show_numbers(options);
    const char *name = of_process ? process_names_find(options->names, task) : task->comm;
    char *comm = shown_comm(name, options, waker, task->interrupt);

    if (!comm)
        return -ENOMEM;
    making->comms[making->comm_count++] = comm;
    shown->comm = comm;
    shown->interrupt = task->interrupt;
    shown->pid = task->pid;
    shown->tid = options->by == GROUP_BY_THREAD ? task->tid : 0;
    shown->foreign = task->foreign;
    return 0;
}

/* Makes the block of the events that did not fit in the table: only their number is known. */
static void make_table_full(struct making *making, struct block *block, uint32_t *to)
{
    *to = labels_special(&making->labels, TABLE_FULL_FRAME);
    take_frames(making, &block->task, 1, true);
    block->of_many = true;
    block->task.comm = "";
    block->task.absent = true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/*
 * Formats that show shares need a sum that does not wrap around, as one with malloc(-1) does: if
 * the values together are too large, this cuts the large ones.
 */
static void bound_values(struct making *making)
{
    const enum report_format format = making->options->format;
    const bool has_shares = format == REPORT_FLAT || format == REPORT_TREE || format == REPORT_SVG;
    const struct tally *tally = making->tally;
    uint64_t value = 0, events = 0;

    making->most_value = making->most_events = UINT64_MAX;
    for (size_t i = 0; i < tally->count && has_shares; i++) {
        if (__builtin_add_overflow(value, tally->entries[i].value, &value))
            making->most_value = UINT64_MAX / tally->count;
        if (__builtin_add_overflow(events, tally->entries[i].events, &events))
            making->most_events = UINT64_MAX / tally->count;
    }
}

static int make_block(struct making *making, size_t index)
{
    const struct tally_entry *entry = &making->tally->entries[index];
    bool wakers = blocks_show_wakers(making->options);
    struct block *block = &making->blocks.items[making->blocks.count++];
    uint32_t *to = making->frames + making->frame_count;

    *block = (struct block){
        .value = least(entry->value, making->most_value),
        .events = least(entry->events, making->most_events),
        .longest = entry->longest,
        .waker = {.comm = "", .absent = true},
    };
    if (entry->mark == MARK_TABLE_FULL) {
        make_table_full(making, block, to);
        return 0;
    }
    take_frames(making, &block->task, add_task(making, index, to), !wakers);
    to = making->frames + making->frame_count;
    take_frames(making, &block->waker, add_waker(making, index, to), false);
    int result = take_name(making, &block->task, &entry->task, false);
    if (result || !wakers)
        return result;
    if (!entry->has_waker) {
        block->waker.comm = "[no waker]";
        return 0;
    }
    block->waker.absent = false;
    return take_name(making, &block->waker, &entry->waker, true);
}

/* Several symbols may have the same text: it leads to a wait if any of them does. */
static int find_leading(struct making *making)
{
    const struct report_options *options = making->options;

    if (options->format != REPORT_FLAT || !options->waiting)
        return 0;
    making->leading = calloc(making->labels.count + 1, sizeof(*making->leading));
    if (!making->leading)
        return -ENOMEM;
    for (size_t i = 0; i < making->symbols->count; i++)
        if (waiting_text_has(options->waiting, &making->symbols->items[i]))
            making->leading[making->labels.ranks[i]] = true;
    making->blocks.leading = making->leading;
    return 0;
}

static size_t frames_of(const struct tally_task *task)
{
    return (size_t)task->kernel.count + task->user.count;
}

static int make_blocks(struct making *making)
{
    const struct tally *tally = making->tally;
    int result = 0;
    size_t room = 0;

    /* Besides its own frames a task may have a delimiter, a mark, and frames for lost stacks. */
    for (size_t i = 0; i < tally->count; i++)
        room += frames_of(&tally->entries[i].task) + frames_of(&tally->entries[i].waker) + 8;
    making->frames = calloc(room + 1, sizeof(*making->frames));
    making->comms = calloc(2 * tally->count + 1, sizeof(*making->comms));
    making->blocks.items = calloc(tally->count + 1, sizeof(*making->blocks.items));
    making->blocks.labels = making->labels.texts;
    making->blocks.label_count = making->labels.count;
    if (!making->frames || !making->comms || !making->blocks.items)
        return -ENOMEM;
    bound_values(making);
    for (size_t i = 0; i < tally->count && !result; i++)
        result = make_block(making, i);
    return result;
}

static void free_making(struct making *making)
{
    for (size_t i = 0; i < making->comm_count; i++)
        free(making->comms[i]);
    free(making->comms);
    free(making->frames);
    free(making->leading);
    free(making->blocks.items);
    labels_free(&making->labels);
}

static int write_format(FILE *out, const struct report *report)
{
    switch (report->options->format) {
    case REPORT_FOLDED: return folded_write(out, report);
    case REPORT_FLAT: return flat_write(out, report);
    case REPORT_TREE: return tree_write(out, report);
    case REPORT_SVG: return report_svg_write(out, report);
    case REPORT_SPEEDSCOPE: return speedscope_write(out, report);
    case REPORT_PPROF: return pprof_write(out, report);
    default: return report->options->pairs ? pairs_write(out, report) : text_write(out, report);
    }
}

int report_write(FILE *out, const struct tally *tally, const struct symbols *symbols,
                 const struct report_options *options, const struct tm *when,
                 struct report_summary *summary)
{
    struct making making = {.tally = tally, .symbols = symbols, .options = options};
    const struct report report = {&making.blocks, symbols, options, when};
    int result = labels_make(&making.labels, symbols, options, highest_tower(&making));

    *summary = (struct report_summary){0};
    if (!result)
        result = find_leading(&making);
    if (!result)
        result = make_blocks(&making);
    if (!result) {
        blocks_merge(&making.blocks, options);
        if (!options->pairs || options->format != REPORT_TEXT)
            blocks_keep_top(&making.blocks, options, summary);
        errno = 0;
        result = write_format(out, &report);
        if (!result)
            result = output_flush(out);
    }
    free_making(&making);
    return result;
}
