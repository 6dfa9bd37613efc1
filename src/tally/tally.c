/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "tally/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/util.h"

struct tally_entry *tally_add(struct tally *tally)
{
    if (array_reserve(&tally->entries, &tally->room, tally->count + 1, sizeof(*tally->entries)))
        return NULL;
    struct tally_entry *entry = &tally->entries[tally->count++];
    *entry = (struct tally_entry){0};
    return entry;
}

int tally_add_stack(struct tally *tally, struct stack *stack, const uint64_t *addresses,
                    size_t count)
{
    if (tally->address_count + count > UINT32_MAX ||
        array_reserve(&tally->addresses, &tally->address_room, tally->address_count + count,
                      sizeof(*tally->addresses)))
        return -ENOMEM;
    if (count)
        memcpy(tally->addresses + tally->address_count, addresses, count * sizeof(*addresses));
    *stack = (struct stack){
        .state = count ? STACK_KEPT : STACK_NONE,
        .first = (uint32_t)tally->address_count,
        .count = (uint32_t)count,
    };
    tally->address_count += count;
    return 0;
}

void tally_clear(struct tally *tally)
{
    tally->count = 0;
    tally->address_count = 0;
}

void tally_free(struct tally *tally)
{
    free(tally->entries);
    free(tally->addresses);
    *tally = (struct tally){0};
}

/* Merges equal entries of a tally, and equal stacks, which then share their addresses. */

struct merging {
    const struct tally *from;
    struct tally to;
    struct index entries, stacks;
    struct stack *known; /* the stacks of `to`, without duplicates */
    size_t known_count;
};

/* ---- Stacks ---- */

static uint64_t hash_stack(const struct tally *tally, const struct stack *stack)
{
    uint64_t hash = hash_word((uint64_t)stack->state, stack->count);

    for (uint32_t i = 0; i < stack->count; i++)
        hash = hash_word(hash, tally->addresses[stack->first + i]);
    return hash;
}

static bool same_addresses(const struct merging *merging, const struct stack *from,
                           const struct stack *to)
{
    return from->state == to->state && from->count == to->count &&
           (!from->count ||
            !memcmp(merging->from->addresses + from->first, merging->to.addresses + to->first,
                    from->count * sizeof(uint64_t)));
}

/* Makes `stack`, a slice of the old addresses, the same slice of the new ones. */
static int take_stack(struct merging *merging, struct stack *stack)
{
    uint64_t hash = hash_stack(merging->from, stack);
    struct stack made = {.state = stack->state};
    uint32_t number;
    size_t at = 0;
    int result = 0;

    while (index_next(&merging->stacks, hash, &at, &number)) {
        const struct stack *known = &merging->known[number];
        if (same_addresses(merging, stack, known)) {
            *stack = *known;
            return 0;
        }
    }
    if (stack->count)
        result = tally_add_stack(&merging->to, &made, merging->from->addresses + stack->first,
                                 stack->count);
    if (!result)
        result = index_add(&merging->stacks, hash, (uint32_t)merging->known_count);
    if (result)
        return result;
    made.state = stack->state;
    merging->known[merging->known_count++] = made;
    *stack = made;
    return 0;
}

/* ---- Entries ---- */

static uint64_t hash_task(uint64_t hash, const struct tally_task *task)
{
    uint64_t words[COMM_BYTES / sizeof(uint64_t)];

    memcpy(words, task->comm, sizeof(words));
    hash = hash_word(hash, (uint64_t)task->pid << 32 | task->tid);
    hash = hash_word(hash, task->generation ^ task->foreign ^ (uint64_t)task->interrupt << 1);
    hash = hash_word(hash_word(hash, words[0]), words[1]);
    hash = hash_word(hash, (uint64_t)task->kernel.first << 32 | task->kernel.count);
    return hash_word(hash, (uint64_t)task->user.first << 32 | task->user.count);
}

static uint64_t hash_entry(const struct tally_entry *entry)
{
    uint64_t hash = hash_word((uint64_t)entry->mark, entry->has_waker);

    return hash_task(hash_task(hash, &entry->task), &entry->waker);
}

static bool same_stack(const struct stack *a, const struct stack *b)
{
    return a->state == b->state && a->first == b->first && a->count == b->count;
}

static bool same_task(const struct tally_task *a, const struct tally_task *b)
{
    return a->pid == b->pid && a->tid == b->tid && a->generation == b->generation &&
           a->foreign == b->foreign && a->interrupt == b->interrupt &&
           !memcmp(a->comm, b->comm, COMM_BYTES) &&
           same_stack(&a->kernel, &b->kernel) && same_stack(&a->user, &b->user);
}

static int take_entry(struct merging *merging, const struct tally_entry *entry)
{
    uint64_t hash = hash_entry(entry);
    uint32_t number;
    size_t at = 0;

    while (index_next(&merging->entries, hash, &at, &number)) {
        struct tally_entry *known = &merging->to.entries[number];
        if (known->mark != entry->mark || known->has_waker != entry->has_waker ||
            !same_task(&known->task, &entry->task) || !same_task(&known->waker, &entry->waker))
            continue;
        known->value += entry->value;
        known->events += entry->events;
        if (entry->longest > known->longest)
            known->longest = entry->longest;
        return 0;
    }
    if (index_add(&merging->entries, hash, (uint32_t)merging->to.count))
        return -ENOMEM;
    struct tally_entry *added = tally_add(&merging->to);
    if (!added)
        return -ENOMEM;
    *added = *entry;
    return 0;
}

/* Equal stacks are one slice now, so entries are compared without their addresses. */
static int take_with_stacks(struct merging *merging, struct tally_entry entry)
{
    int result = take_stack(merging, &entry.task.kernel);

    if (!result)
        result = take_stack(merging, &entry.task.user);
    if (!result)
        result = take_stack(merging, &entry.waker.kernel);
    if (!result)
        result = take_stack(merging, &entry.waker.user);
    return result ? result : take_entry(merging, &entry);
}

int tally_merge(struct tally *tally)
{
    struct merging merging = {.from = tally};
    size_t most_stacks = tally->count * 4;
    int result;

    merging.known = calloc(most_stacks + 1, sizeof(*merging.known));
    result = merging.known ? 0 : -ENOMEM;
    for (size_t i = 0; i < tally->count && !result; i++)
        result = take_with_stacks(&merging, tally->entries[i]);
    index_free(&merging.entries);
    index_free(&merging.stacks);
    free(merging.known);
    if (result) {
        tally_free(&merging.to);
        return result;
    }
    tally_free(tally);
    *tally = merging.to;
    return 0;
}
