/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "insns/unwind_layout.h"
#include "kernel/bpf.h"
#include "store/store.h"

struct drain {
    struct store *store;
    const struct bank *bank;
    struct tally *tally;
    struct drain_losses *losses;
    uint64_t *addresses;           /* room for one stack */
    struct spilled_stack *spilled; /* likewise */
    struct stack *known;           /* by stack id: what was read already */
    uint32_t ids;                  /* how many this bank may have */
    bool by_tables;                /* how the last stack was walked */
};

/* A stack in the stack map ends with its first 0. */
static int read_kept(struct drain *drain, uint32_t id, struct stack *stack)
{
    size_t count = 0;

    if (stack->state != STACK_NONE)
        return 0;
    int result = bpf_lookup(drain->store->settled.ids.map, &id, drain->addresses);
    if (result)
        return result;
    while (count < drain->store->depth && drain->addresses[count])
        count++;
    return tally_add_stack(drain->tally, stack, drain->addresses, count);
}

static int read_spilled(struct drain *drain, int64_t key, struct stack *stack)
{
    enum bank_map map = key & STACK_SHALLOW ? BANK_SHALLOW : BANK_DEEP;
    int result = bpf_lookup(drain->bank->maps[map], &key, drain->spilled);

    if (result)
        return result;
    size_t count = (size_t)drain->spilled->bytes / sizeof(uint64_t);
    if (count > drain->store->depth)
        count = drain->store->depth;
    count = unwind_count_frames(drain->spilled->frames, count, &drain->by_tables);
    return tally_add_stack(drain->tally, stack, drain->spilled->frames, count);
}

static int take_stack(struct drain *drain, int64_t word, uint64_t events, struct stack *stack)
{
    *stack = (struct stack){.state = STACK_NONE};
    drain->by_tables = false;
    if (word == -EEXIST || word == -ENOMEM) {
        stack->state = STACK_FULL;
        drain->losses->stacks_lost += events;
        return 0;
    }
    if (word < 0)
        return 0;
    if (word & STACK_SPILLED)
        return read_spilled(drain, word, stack);
    if (word >= drain->ids)
        return -EINVAL;
    int result = read_kept(drain, (uint32_t)word, &drain->known[word]);
    *stack = drain->known[word];
    return result;
}

/* Several entries may share a kernel stack: what is left out here stays in the others. */
static int complete_kernel(struct drain *drain, struct stack *stack, const struct count_key *key)
{
    const uint64_t *frames = drain->tally->addresses + stack->first;

    if (stack->state != STACK_KEPT)
        return 0;
    if (key->flags & KEY_TRACEPOINT)
        callers_drop_twice(drain->tally, stack);
    return drain->store->depth > 1 &&
        callers_miss_kernel(key->caller, key->flags, frames, stack->count)
               ? callers_insert(drain->tally, stack, key->caller, drain->store->depth) : 0;
}

/*
 * -EFAULT also means that there is no such stack, as in kernel threads for user stacks. But a
 * program at a user probe has a user stack, and every task has at least one of the two.
 */
static bool has_failed(const struct count_key *key)
{
    return key->user_stack == -EFAULT &&
           (key->flags & KEY_USER_PROBE || key->kernel_stack == -EFAULT);
}

/* Are counts struct summed? */
static bool adds_up(const struct store *store)
{
    return store->value_bytes == sizeof(struct summed);
}

static int take_count(void *context, const void *key_bytes, const void *value_bytes)
{
    struct drain *drain = context;
    struct count_key key;
    struct summed counted;

    memcpy(&key, key_bytes, sizeof(key));
    memcpy(&counted, value_bytes, drain->store->value_bytes);
    const uint64_t value = counted.events;
    struct tally_entry *entry = tally_add(drain->tally);
    if (!entry)
        return -ENOMEM;
    entry->events = value;
    entry->value = adds_up(drain->store) ? counted.sum : value;
    drain->store->counted += value;
    drain->store->summed += entry->value;
    entry->task.pid = key.pid;
    entry->task.tid = key.flags >> KEY_TID_SHIFT;
    entry->task.foreign = key.flags & KEY_FOREIGN;
    entry->task.generation = key.generation;
    memcpy(entry->task.comm, key.comm, sizeof(key.comm));
    if (has_failed(&key))
        drain->losses->walks_failed += value;
    int result = take_stack(drain, key.kernel_stack, value, &entry->task.kernel);
    if (!result)
        result = complete_kernel(drain, &entry->task.kernel, &key);
    if (!result)
        result = take_stack(drain, key.user_stack, value, &entry->task.user);
    /* Unwinding by tables finds the caller itself. */
    if (!drain->by_tables && !(key.flags & KEY_KERNEL_START)) {
        entry->caller = key.caller;
        entry->flags = (uint16_t)key.flags;
    }
    return result;
}

static int drain_bank(const struct drain *of, const struct bank *bank)
{
    struct store *store = of->store;
    struct drain drain = {
        .store = store,
        .bank = bank,
        .tally = of->tally,
        .losses = of->losses,
        .addresses = calloc(store->depth, sizeof(uint64_t)),
        .spilled = malloc(SPILLED_STACK_BYTES(store->depth)),
        .ids = bank == &store->main ? store->settled.ids.buckets : 0,
    };
    drain.known = calloc(drain.ids + 1, sizeof(struct stack));
    int result = drain.addresses && drain.spilled && drain.known ? 0 : -ENOMEM;

    if (!result)
        result = bpf_drain(bank->maps[BANK_COUNTS], sizeof(struct count_key), store->value_bytes,
                           take_count, &drain);
    if (!result)
        result = callers_complete(&store->callers, drain.tally, store->depth);
    free(drain.addresses);
    free(drain.spilled);
    free(drain.known);
    return result;
}

static int forget_stack(void *context, const void *key, const void *value)
{
    (void)context, (void)key, (void)value;
    return 0;
}

int drain_stacks(const struct store *store, const struct bank *bank, bpf_take *take, void *context)
{
    int result = 0;

    for (int map = BANK_SHALLOW; map <= BANK_DEEP && !result; map++) {
        const struct bpf_map_shape shape = store_map_shape(store, (enum bank_map)map, 0);
        if (bank->maps[map] >= 0)
            result = bpf_drain(bank->maps[map], shape.key_size, shape.value_size, take, context);
    }
    return result;
}

static int clear_stacks(struct store *store, const struct bank *bank)
{
    int result = bank == &store->main ? settled_clear(&store->settled) : 0;

    return result ? result : drain_stacks(store, bank, forget_stack, NULL);
}

/* ---- A report ---- */

int drain_uncounted(struct tally *tally, uint64_t events, uint64_t value)
{
    struct tally_entry *entry;

    if (!events)
        return 0;
    entry = tally_add(tally);
    if (!entry)
        return -ENOMEM;
    entry->mark = MARK_TABLE_FULL;
    entry->events = events;
    entry->value = value;
    return 0;
}

/* Stacks stay in the maps from report to report, as their keys depend on their contents only. */
static int empty_of_counts(void *context, struct bank *bank, bool again)
{
    struct store *store = ((const struct drain *)context)->store;
    int result = drain_bank(context, bank);

    if (result || !again || !store_has_filled(bank))
        return result;
    bank->kept[BANK_SHALLOW] = bank->kept[BANK_DEEP] = 0;
    return clear_stacks(store, bank);
}

int drain_counts(struct store *store, bool again, struct tally *tally, struct drain_losses *losses)
{
    struct drain drain = {.store = store, .tally = tally, .losses = losses};

    return store_drain_by(store, again, empty_of_counts, &drain, tally);
}
