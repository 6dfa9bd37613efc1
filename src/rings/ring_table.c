/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "rings/ring_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* ---- Comparison ---- */

static uint64_t hash_stack(uint64_t hash, const struct ring_stack *stack)
{
    hash = hash_word(hash, stack->count);
    for (size_t i = 0; i < stack->count; i++)
        hash = hash_word(hash, stack->frames[i]);
    return hash;
}

static uint64_t hash_party(uint64_t hash, const struct ring_party *party)
{
    uint64_t name[2] = {0};

    memcpy(name, party->who.comm, sizeof(name));
    hash = hash_word(hash_word(hash, name[0]), name[1]);
    hash = hash_word(hash_word(hash, party->who.pid), (uint64_t)party->who.tid << 32 | (uint32_t)party->who.born);
    return hash_stack(hash_stack(hash, &party->kernel), &party->user);
}

static bool is_stack(const struct tally *tally, const struct stack *kept, const struct ring_stack *stack)
{
    return kept->count == stack->count &&
           (!stack->count || !memcmp(tally->addresses + kept->first, stack->frames,
                                     stack->count * sizeof(*stack->frames)));
}

static bool is_party(const struct tally *tally, const struct tally_party *kept, const struct ring_party *party)
{
    return kept->pid == party->who.pid && kept->tid == party->who.tid && kept->born == party->who.born &&
           kept->foreign == party->who.foreign && !strcmp(kept->comm, party->who.comm) &&
           is_stack(tally, &kept->kernel, &party->kernel) && is_stack(tally, &kept->user, &party->user);
}

static struct tally_entry *find(const struct ring_table *table, const struct ring_key *key, uint64_t hash)
{
    uint32_t item;
    size_t at = 0;

    while (index_next(&table->index, hash, &at, &item)) {
        struct tally_entry *entry = &table->tally.entries[item];
        if (table->callers[item] == key->task.caller && entry->has_waker == (key->waker != NULL) &&
            is_party(&table->tally, &entry->task, &key->task) &&
            (!key->waker || is_party(&table->tally, &entry->waker, key->waker)))
            return entry;
    }
    return NULL;
}

/* ---- New entries ---- */

static int keep_party(struct tally *tally, struct tally_party *to, const struct ring_party *party)
{
    struct stack kernel, user;
    int result = tally_add_stack(tally, &kernel, party->kernel.frames, party->kernel.count);

    if (!result)
        result = tally_add_stack(tally, &user, party->user.frames, party->user.count);
    if (result)
        return result;
    *to = party->who;
    to->kernel = kernel;
    to->user = user;
    return 0;
}

static int keep(struct ring_table *table, const struct ring_key *key, uint64_t hash, struct tally_entry **made)
{
    struct tally *tally = &table->tally;
    const size_t item = tally->count;

    if (array_reserve(&table->callers, &table->callers_room, item + 1, sizeof(uint64_t)) ||
        array_reserve(&table->flags, &table->flags_room, item + 1, sizeof(uint64_t)))
        return -ENOMEM;
    struct tally_entry *entry = tally_add(tally);
    int result = entry ? keep_party(tally, &entry->task, &key->task) : -ENOMEM;
    if (!result && key->waker)
        result = keep_party(tally, &entry->waker, key->waker);
    if (!result)
        result = index_add(&table->index, hash, (uint32_t)item);
    if (result) {
        tally->count = item;
        return result;
    }
    entry->has_waker = key->waker != NULL;
    table->callers[item] = key->task.caller;
    table->flags[item] = key->task.flags;
    *made = entry;
    return 0;
}

int ring_table_add(struct ring_table *table, const struct ring_key *key, uint64_t value)
{
    uint64_t hash = hash_party(key->task.caller, &key->task);

    if (key->waker)
        hash = hash_party(hash, key->waker);
    struct tally_entry *entry = find(table, key, hash);
    if (!entry && table->most && table->tally.count >= table->most) {
        table->full++;
        table->full_value += value;
        return 0;
    }
    int result = entry ? 0 : keep(table, key, hash, &entry);
    if (result)
        return result;
    entry->events++;
    entry->value += value;
    if (value > entry->longest)
        entry->longest = value;
    return 0;
}

int ring_table_put(struct tally *tally, const struct ring_key *key, uint64_t value, enum tally_mark mark)
{
    struct tally_entry *entry = tally_add(tally);
    int result = entry ? keep_party(tally, &entry->task, &key->task) : -ENOMEM;

    if (!result && key->waker)
        result = keep_party(tally, &entry->waker, key->waker);
    if (result)
        return result;
    entry->has_waker = key->waker != NULL;
    entry->value = entry->longest = value;
    entry->events = 1;
    entry->mark = mark;
    return 0;
}

/* ---- Emptying ---- */

static int copy_stack(struct tally *to, const struct tally *from, struct stack *stack)
{
    return stack->state == STACK_KEPT ? tally_add_stack(to, stack, from->addresses + stack->first, stack->count)
                                      : 0;
}

static int copy(struct tally *to, const struct tally *from, const struct tally_entry *entry)
{
    struct tally_entry *made = tally_add(to);

    if (!made)
        return -ENOMEM;
    *made = *entry;
    int result = copy_stack(to, from, &made->task.kernel);
    if (!result)
        result = copy_stack(to, from, &made->task.user);
    if (!result)
        result = copy_stack(to, from, &made->waker.kernel);
    return result ? result : copy_stack(to, from, &made->waker.user);
}

static int move_full(struct ring_table *table, struct tally *to)
{
    struct tally_entry *entry = table->full ? tally_add(to) : NULL;

    if (!table->full)
        return 0;
    if (!entry)
        return -ENOMEM;
    entry->mark = MARK_TABLE_FULL;
    entry->events = table->full;
    entry->value = table->full_value;
    table->full = table->full_value = 0;
    return 0;
}

int ring_table_move(struct ring_table *table, struct tally *to)
{
    int result = 0;

    for (size_t i = 0; i < table->tally.count && !result; i++)
        result = copy(to, &table->tally, &table->tally.entries[i]);
    tally_clear(&table->tally);
    index_free(&table->index);
    return result ? result : move_full(table, to);
}

void ring_table_free(struct ring_table *table)
{
    tally_free(&table->tally);
    index_free(&table->index);
    free(table->callers);
    free(table->flags);
    *table = (struct ring_table){.most = 0};
}
