/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Who waits for whom: one line per pair, without stacks, longest time first. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/blocks.h"

#include "base/text.h"

#define USUAL_LINES 10

struct pair {
    struct text waiter, waker; /* as they are printed */
    uint64_t value, events, longest;
};

static void add_who(struct text *text, const struct block_party *party,
                    const struct report_options *options)
{
    char numbers[BLOCKS_NUMBERS_BYTES];

    text_add(text, party->comm);
    text_add(text, blocks_numbers(numbers, party, options));
}

static int compare_texts(const struct pair *a, const struct pair *b)
{
    int order = strcmp(a->waiter.data, b->waiter.data);

    return order ? order : strcmp(a->waker.data, b->waker.data);
}

static int compare_for_merge(const void *left, const void *right)
{
    return compare_texts(left, right);
}

static int compare_for_print(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;

    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return compare_texts(a, b);
}

static void free_pair(struct pair *pair)
{
    text_free(&pair->waiter);
    text_free(&pair->waker);
}

/* Returns how many there are. */
static size_t merge(struct pair *pairs, size_t count)
{
    size_t kept = 0;

    qsort(pairs, count, sizeof(*pairs), compare_for_merge);
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

static void print(FILE *out, const struct report *report, const struct pair *pairs, size_t count)
{
    const struct report_options *options = report->options;
    size_t most = options->top ? (size_t)options->top : USUAL_LINES;
    uint64_t left = 0;

    if (options->timestamp)
        fprintf(out, "%02d:%02d:%02d\n", report->when->tm_hour, report->when->tm_min,
                report->when->tm_sec);
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
        if (block->nobodys) {
            text_add(&pair->waiter, "[table full]");
            text_add(&pair->waker, "[table full]");
        } else {
            add_who(&pair->waiter, &block->task, report->options);
            add_who(&pair->waker, &block->waker, report->options);
        }
        result = pair->waiter.failed || pair->waker.failed ? -ENOMEM : 0;
    }
    if (!result) {
        count = merge(pairs, count);
        print(out, report, pairs, count);
    }
    for (size_t i = 0; i < count; i++)
        free_pair(&pairs[i]);
    free(pairs);
    return result;
}
