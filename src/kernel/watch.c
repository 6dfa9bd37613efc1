/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/bpf.h"

/* Thousands of entries: what takes longer is not worth it, and keeps reports waiting. */
#define MOST_NS 20000000

struct look {
    uint64_t until, events;
    uint64_t *stacks; /* a number for each entry, the same where its stacks are */
    size_t count, room;
};

static int look_at(void *context, const void *key_bytes, const void *value_bytes)
{
    struct look *look = context;
    struct count_key key;
    uint64_t value;

    memcpy(&key, key_bytes, sizeof(key));
    memcpy(&value, value_bytes, sizeof(value));
    look->events += value;
    if (now_ns() > look->until)
        return -ETIME;
    if (array_reserve(&look->stacks, &look->room, look->count + 1, sizeof(*look->stacks)))
        return -ENOMEM;
    /* Two pairs that come to one number are one too few on a line that is gone in a second. */
    look->stacks[look->count++] = (uint64_t)key.kernel_stack * 0x9e3779b97f4a7c15 +
                                  (uint64_t)key.user_stack;
    return 0;
}

static int look_at_bank(const struct bank *bank, struct look *look)
{
    return bpf_look_through(bank->counts, sizeof(struct count_key), sizeof(uint64_t), look_at, look);
}

static int compare_numbers(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

static uint64_t count_different(uint64_t *numbers, size_t count)
{
    uint64_t different = 0;

    if (count)
        qsort(numbers, count, sizeof(*numbers), compare_numbers);
    for (size_t i = 0; i < count; i++)
        different += !i || numbers[i] != numbers[i - 1];
    return different;
}

static int read_lost(const struct store *store, uint64_t *lost)
{
    uint64_t full, taken;
    int result = store_read_account(store, ACCOUNT_TABLE_FULL, &full);

    if (!result)
        result = store_read_account(store, ACCOUNT_SLOTS_TAKEN, &taken);
    if (!result)
        *lost = full + taken;
    return result;
}

int store_watch(const struct store *store, struct watch *watch)
{
    /* The stand-in has what came during the last report, whose stacks have other ids. */
    struct look look = {.until = now_ns() + MOST_NS}, stand_in = look;

    bpf_begin_unpreempted();
    int result = look_at_bank(&store->main, &look);
    if (!result)
        result = look_at_bank(&store->stand_in, &stand_in);
    if (!result)
        result = read_lost(store, &watch->lost);
    bpf_end_unpreempted();
    if (!result) {
        watch->events = look.events + stand_in.events;
        watch->stacks = count_different(look.stacks, look.count);
    }
    free(look.stacks);
    free(stand_in.stacks);
    return result;
}
