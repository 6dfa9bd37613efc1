/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "output/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "output/blocks.h"
#include "output/labels.h"

struct making {
    const struct tally *tally;
    const struct symbols *symbols;
    const struct report_options *options;
    struct labels labels;
    struct blocks blocks;
    char **comms;     /* of every entry, as they are printed */
    uint32_t *frames; /* of all blocks */
};

static char *shown_comm(const struct tally_entry *entry, enum report_format format)
{
    struct text comm = {0};

    escape_bytes(&comm, entry->task.comm, strnlen(entry->task.comm, COMM_BYTES));
    if (!comm.length)
        text_add(&comm, "[unknown]");
    if (comm.failed)
        text_free(&comm);
    else if (format == REPORT_FOLDED)
        labels_fold(comm.data);
    return comm.data;
}

/* Puts the labels' items of one stack at `to`, leaf first, or root first; returns how many. */
static size_t add_stack(const struct making *making, const struct stack *stack, size_t first,
                        uint32_t *to)
{
    bool root_first = making->options->format == REPORT_FOLDED;

    if (stack->state == STACK_FULL) {
        *to = labels_special(&making->labels, FULL_FRAME);
        return 1;
    }
    for (uint32_t i = 0; i < stack->count; i++) {
        uint32_t from = root_first ? stack->count - 1 - i : i;
        to[i] = making->symbols->frames[first + from];
    }
    return stack->count;
}

/*
 * The labels' items of an entry in the order of the format. Text: kernel, then user, each leaf
 * first; folded: user, then kernel, each root first. Returns how many.
 */
static size_t add_items(const struct making *making, size_t index, uint32_t *to)
{
    const struct tally_entry *entry = &making->tally->entries[index];
    const struct report_options *options = making->options;
    size_t kernel_first = making->symbols->first[index];
    size_t user_first = kernel_first + entry->task.kernel.count, count;
    bool folded = options->format == REPORT_FOLDED;
    bool delimited = options->delimited && options->kernel && options->user;

    if (entry->task.kernel.state == STACK_NONE && entry->task.user.state == STACK_NONE) {
        to[0] = labels_special(&making->labels, NO_STACK_FRAME);
        count = 1;
    } else {
        count = folded ? add_stack(making, &entry->task.user, user_first, to)
                       : add_stack(making, &entry->task.kernel, kernel_first, to);
    }
    if (delimited)
        to[count++] = labels_special(&making->labels, DELIMITER_FRAME);
    return count + (folded ? add_stack(making, &entry->task.kernel, kernel_first, to + count)
                           : add_stack(making, &entry->task.user, user_first, to + count));
}

/* The same as indices of labels: what is printed. */
static size_t add_frames(const struct making *making, size_t index, uint32_t *to)
{
    const struct labels *labels = &making->labels;
    size_t count = add_items(making, index, to);

    for (size_t i = 0; i < count; i++)
        to[i] = i + 1 < count ? labels->ranks[to[i]] : labels->as_last[to[i]];
    return count;
}

static int make_blocks(struct making *making)
{
    const struct tally *tally = making->tally;
    size_t room = 0, used = 0;

    /* Besides its frames an entry may have a delimiter, and frames for stacks that were lost. */
    for (size_t i = 0; i < tally->count; i++)
        room += tally->entries[i].task.kernel.count + tally->entries[i].task.user.count + 4;
    making->frames = calloc(room + 1, sizeof(*making->frames));
    making->comms = calloc(tally->count + 1, sizeof(*making->comms));
    making->blocks.items = calloc(tally->count + 1, sizeof(*making->blocks.items));
    if (!making->frames || !making->comms || !making->blocks.items)
        return -ENOMEM;
    for (size_t i = 0; i < tally->count; i++) {
        const struct tally_entry *entry = &tally->entries[i];
        making->comms[i] = shown_comm(entry, making->options->format);
        if (!making->comms[i])
            return -ENOMEM;
        size_t frame_count = add_frames(making, i, making->frames + used);
        making->blocks.items[making->blocks.count++] = (struct block){
            .value = entry->value,
            .comm = making->comms[i],
            .pid = entry->task.pid,
            .foreign = entry->task.foreign,
            .frames = making->frames + used,
            .frame_count = frame_count,
        };
        used += frame_count;
    }
    making->blocks.labels = making->labels.texts;
    return 0;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* By name, pid, frames. Blocks whose printed lines are equal compare equal. */
static int compare_lines(const struct block *a, const struct block *b,
                         const struct report_options *options)
{
    bool by_pid = options->format == REPORT_TEXT || options->split_processes;
    int order = options->show_process ? strcmp(a->comm, b->comm) : 0;

    if (!order && options->show_process && by_pid)
        order = compare_numbers(a->pid, b->pid);
    if (!order && options->show_process && by_pid)
        order = compare_numbers(a->foreign, b->foreign);
    for (size_t i = 0; !order && i < a->frame_count && i < b->frame_count; i++)
        order = compare_numbers(a->frames[i], b->frames[i]);
    return order ? order : compare_numbers(a->frame_count, b->frame_count);
}

/* What is sorted for: qsort() passes nothing along to these two. */
static const struct report_options *sorting_for;

static int compare_for_merge(const void *left, const void *right)
{
    return compare_lines(left, right, sorting_for);
}

static int compare_for_print(const void *left, const void *right)
{
    const struct block *a = left, *b = right;
    int order = compare_numbers(a->value, b->value);

    return order ? order : compare_lines(a, b, sorting_for);
}

static void merge_and_sort(struct blocks *blocks, const struct report_options *options)
{
    size_t kept = 0;

    sorting_for = options;
    qsort(blocks->items, blocks->count, sizeof(*blocks->items), compare_for_merge);
    for (size_t i = 0; i < blocks->count; i++) {
        if (kept && !compare_lines(&blocks->items[kept - 1], &blocks->items[i], options))
            blocks->items[kept - 1].value += blocks->items[i].value;
        else
            blocks->items[kept++] = blocks->items[i];
    }
    blocks->count = kept;
    qsort(blocks->items, blocks->count, sizeof(*blocks->items), compare_for_print);
}

/* Cuts the smallest off the front. */
static void keep_top(struct blocks *blocks, uint64_t top, struct report_summary *summary)
{
    size_t left = top && blocks->count > top ? blocks->count - (size_t)top : 0;

    for (size_t i = 0; i < blocks->count; i++)
        *(i < left ? &summary->left_value : &summary->value) += blocks->items[i].value;
    memmove(blocks->items, blocks->items + left, (blocks->count - left) * sizeof(*blocks->items));
    blocks->count -= left;
    summary->left_blocks = left;
    summary->blocks = blocks->count;
}

static void free_making(struct making *making)
{
    for (size_t i = 0; making->comms && i < making->tally->count; i++)
        free(making->comms[i]);
    free(making->comms);
    free(making->frames);
    free(making->blocks.items);
    labels_free(&making->labels);
}

int report_write(FILE *out, const struct tally *tally, const struct symbols *symbols,
                 const struct report_options *options, const struct tm *when,
                 struct report_summary *summary)
{
    struct making making = {.tally = tally, .symbols = symbols, .options = options};
    int result = labels_make(&making.labels, symbols, options);

    *summary = (struct report_summary){0};
    if (!result)
        result = make_blocks(&making);
    if (!result) {
        merge_and_sort(&making.blocks, options);
        keep_top(&making.blocks, options->top, summary);
        errno = 0;
        if (options->format == REPORT_FOLDED)
            folded_write(out, &making.blocks, options, when);
        else
            text_write(out, &making.blocks, options, when);
        if (fflush(out) || ferror(out))
            result = errno ? -errno : -EIO;
    }
    free_making(&making);
    return result;
}
