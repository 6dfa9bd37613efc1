/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "tally/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* ---- Stacks ---- */

/* Where such a stack begins; 0: there is none. */
static uint32_t find_stack(const struct tally *tally, uint64_t hash, const uint64_t *addresses,
                           size_t count)
{
    uint32_t first;
    size_t at = 0;

    while (index_next(&tally->stacks, hash, &at, &first))
        if (tally->addresses[first - 1] == count &&
            !memcmp(tally->addresses + first, addresses, count * sizeof(*addresses)))
            return first;
    return 0;
}

/* Likewise; 0: no memory. */
static uint32_t append(struct tally *tally, uint64_t hash, const uint64_t *addresses, size_t count)
{
    const size_t first = tally->address_count + 1, end = first + count;

    if (end > UINT32_MAX ||
        ARRAY_RESERVE(tally->addresses, tally->address_room, end) ||
        index_add(&tally->stacks, hash, (uint32_t)first))
        return 0;
    tally->addresses[first - 1] = count;
    memcpy(tally->addresses + first, addresses, count * sizeof(*addresses));
    tally->address_count = end;
    return (uint32_t)first;
}

static bool is_full(const struct tally *tally)
{
    return tally->most && tally->count >= tally->most;
}

int tally_add_stack(struct tally *tally, struct stack *stack, const uint64_t *addresses,
                    size_t count)
{
    *stack = (struct stack){.state = STACK_NONE};
    if (!count)
        return 0;
    const uint64_t hash = hash_bytes(0, addresses, count * sizeof(*addresses));
    uint32_t first = find_stack(tally, hash, addresses, count);
    if (!first && is_full(tally)) {
        stack->state = STACK_FULL; /* which no entry has: so tally_count() finds none */
        return 0;
    }
    if (!first)
        first = append(tally, hash, addresses, count);
    if (first)
        *stack = (struct stack){STACK_KEPT, first, (uint32_t)count};
    return first ? 0 : -ENOMEM;
}

/* ---- Entries ---- */

#define KEY_AT offsetof(struct tally_entry, caller)
#define KEY_BYTES (sizeof(struct tally_entry) - KEY_AT)
_Static_assert(KEY_BYTES == 16 + 2 * sizeof(struct tally_task) &&
               sizeof(struct tally_task) == 40 + 2 * sizeof(struct stack), "no padding");

struct tally_entry *tally_add(struct tally *tally)
{
    if (ARRAY_RESERVE(tally->entries, tally->room, tally->count + 1))
        return NULL;
    struct tally_entry *entry = &tally->entries[tally->count++];
    *entry = (struct tally_entry){0};
    return entry;
}

static const char *key_of(const struct tally_entry *entry)
{
    return (const char *)entry + KEY_AT;
}

static struct tally_entry *find(const struct tally *tally, const struct tally_entry *entry,
                                uint64_t hash)
{
    uint32_t number;
    size_t at = 0;

    while (index_next(&tally->index, hash, &at, &number))
        if (!memcmp(key_of(&tally->entries[number]), key_of(entry), KEY_BYTES))
            return &tally->entries[number];
    return NULL;
}

int tally_count(struct tally *tally, const struct tally_entry *entry)
{
    const uint64_t hash = hash_bytes(0, key_of(entry), KEY_BYTES);
    struct tally_entry *known = find(tally, entry, hash);

    if (known) {
        known->value += entry->value;
        known->events += entry->events;
        if (entry->longest > known->longest)
            known->longest = entry->longest;
        return 0;
    }
    if (is_full(tally) && entry->mark != MARK_TABLE_FULL) {
        tally->full += entry->events;
        return tally_count(tally, &(struct tally_entry){.value = entry->value,
                                                        .events = entry->events,
                                                        .mark = MARK_TABLE_FULL});
    }
    if (ARRAY_RESERVE(tally->entries, tally->room, tally->count + 1) ||
        index_add(&tally->index, hash, (uint32_t)tally->count))
        return -ENOMEM;
    tally->entries[tally->count++] = *entry;
    return 0;
}

/* An entry moves to the front, if at all, where it was read already. */
int tally_merge(struct tally *tally)
{
    const size_t count = tally->count;
    int result = 0;

    tally->count = tally->index.count;
    for (size_t i = tally->count; i < count && !result; i++)
        result = tally_count(tally, &tally->entries[i]);
    return result;
}

void tally_count_anew(struct tally *tally)
{
    index_free(&tally->index);
}

static int move(const struct tally *from, struct tally *to, const struct tally_entry *entry)
{
    struct tally_entry *added = tally_add(to);

    if (!added)
        return -ENOMEM;
    *added = *entry;
    struct stack *const stacks[] = {&added->task.kernel, &added->task.user, &added->waker.kernel,
                                    &added->waker.user};
    int result = 0;
    for (size_t i = 0; i < COUNT_OF(stacks) && !result; i++)
        if (stacks[i]->count)
            result = tally_add_stack(to, stacks[i], from->addresses + stacks[i]->first,
                                     stacks[i]->count);
    return result;
}

int tally_move(struct tally *from, struct tally *to)
{
    const struct tally before = *to;
    int result = 0;

    if (!to->count) { /* nothing has to be copied */
        *to = *from;
        *from = before;
        from->most = to->most;
        to->most = before.most;
        tally_count_anew(to);
    }
    for (size_t i = 0; i < from->count && !result; i++)
        result = move(from, to, &from->entries[i]);
    tally_clear(from);
    return result;
}

void tally_freeze(struct tally *tally)
{
    index_free(&tally->index);
    index_free(&tally->stacks);
}

void tally_clear(struct tally *tally)
{
    tally->count = tally->address_count = 0;
    tally->full = 0;
    tally_freeze(tally);
}

void tally_free(struct tally *tally)
{
    tally_clear(tally);
    free(tally->entries);
    free(tally->addresses);
    *tally = (struct tally){0};
}
