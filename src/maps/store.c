/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "maps/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/bpf.h"
#include "kernel/limits.h"
#include "maps/banks.h"
#include "maps/store_sizes.h"

/* ---- Maps ---- */

void store_init(struct store *store)
{
    *store = (struct store){
        .main = {.mode = CONTROL_MAIN, .maps = {-1, -1, -1}},
        .stand_in = {.mode = CONTROL_STAND_IN, .maps = {-1, -1, -1}},
        .banks = {.first = {-1, -1, -1}, .others = {-1, -1, -1}},
        .settled = SETTLED_NONE,
        .controls = CONTROLS_NONE,
    };
}

/* The kernel would only fail after it has used all memory, which takes a minute or more. */
static bool is_too_much(const struct store *store)
{
    const uint64_t free_memory = kernel_free_memory();

    return free_memory && store_bytes(store) > free_memory;
}

int store_open(struct store *store, const struct store_wishes *wishes)
{
    store_init(store);
    store->banks.unrolls = !bpf_has_loops();
    store->depth = (uint32_t)(wishes->depth ? wishes->depth : store_depth_limit());
    store->key_bytes = wishes->key_bytes ? wishes->key_bytes : sizeof(struct count_key);
    store->value_bytes = wishes->value_bytes ? wishes->value_bytes : sizeof(uint64_t);
    uint64_t stacks = store_first_sizes(store, wishes);
    int result = wishes->stacks && is_too_much(store) ? -ENOMEM : controls_open(&store->controls);

    if (!result)
        result = controls_open_slots(&store->controls, SLOT_BYTES(store->depth));
    if (!result)
        result = banks_open(store);
    while (result == -ENOMEM && !wishes->stacks && stacks > LEAST_STACKS) {
        store_set_sizes(store, stacks /= 2, wishes);
        result = banks_open(store);
    }
    /*
     * Whoever asks for a size gets all of it, or is told at once that there is not enough memory.
     */
    if (!result && wishes->stacks)
        result = banks_enlarge(store, &store->stand_in);
    return result;
}

void store_close(struct store *store)
{
    banks_close(store);
    controls_close(&store->controls);
}

/* ---- Reports ---- */

/* Nobody needs to wait for programs that found it paused. */
int store_start(struct store *store)
{
    return controls_set(&store->controls, store->main.mode);
}

/* What programs have added to a bank's account since the last time: nobody writes to it now. */
static int take_account(struct store *store, struct bank *bank)
{
    struct account now;
    int result = controls_account(&store->controls, bank->mode, &now);

    if (result)
        return result;
    const uint64_t *words = (const uint64_t *)&now, *before = (const uint64_t *)&bank->before;
    for (size_t i = 0; i < ACCOUNT_WORDS; i++)
        ((uint64_t *)&store->sum)[i] += words[i] - before[i];
    uint64_t entries[BANK_MAPS];
    store_new_entries(&now, &bank->before, entries);
    store_want(store, entries);
    bank->kept[BANK_SHALLOW] += entries[BANK_SHALLOW];
    bank->kept[BANK_DEEP] += entries[BANK_DEEP];
    bank->before = now;
    return 0;
}

static uint64_t stacks_kept(const struct bank *bank)
{
    return bank->kept[BANK_SHALLOW] + bank->kept[BANK_DEEP];
}

uint64_t store_stacks_kept(const struct store *store)
{
    return stacks_kept(&store->main) + stacks_kept(&store->stand_in) +
           settled_used(&store->settled);
}

uint64_t store_lost(const struct store *store)
{
    const struct account *sum = &store->sum;

    return sum->table_full + sum->slots_taken + sum->waits_full + sum->ends_unseen;
}

int64_t store_account_gap(const struct store *store)
{
    return (int64_t)(store->sum.seen - store->sum.filtered - store->counted - store_lost(store));
}

/* By the sum of all values' upper halves, whose own upper end is lost. */
uint64_t store_wraps(const struct store *store)
{
    const uint64_t high = store->sum.sum_high, shifted = high << 32, low = store->summed - shifted;
    uint64_t sum;

    return (high >> 32) + __builtin_add_overflow(shifted, low, &sum);
}

/* A table that is emptied when it is this full has room for what comes meanwhile. */
#define FILLED 4 /* a quarter */
/* Long before that the stand-in exists, so that counting does not have to wait for it. */
#define IN_USE 16

/* Do this many entries fill 1/part of a map, or of its wanted size? */
static bool fill(const uint64_t entries[BANK_MAPS], const struct bank *bank, uint32_t part)
{
    for (int map = 0; map < BANK_MAPS; map++)
        if (entries[map] && entries[map] >= bank->entries[map] / part)
            return true;
    return false;
}

bool store_has_filled(const struct bank *bank)
{
    return fill(bank->kept, bank, FILLED);
}

enum store_news store_look(struct store *store)
{
    struct bank *bank = &store->main;
    uint64_t entries[BANK_MAPS];
    struct account now;

    if (controls_account(&store->controls, bank->mode, &now))
        return STORE_NOTHING_NEW;
    bool has_news = now.inserted != store->looked_at;
    store->looked_at = now.inserted;
    store_new_entries(&now, &bank->before, entries);
    store_want(store, entries);
    entries[BANK_SHALLOW] += bank->kept[BANK_SHALLOW];
    entries[BANK_DEEP] += bank->kept[BANK_DEEP];
    if (fill(entries, bank, IN_USE))
        store->needs_stand_in = true;
    if (fill(entries, bank, FILLED))
        return STORE_IS_FILLING;
    return has_news ? STORE_HAS_NEWS : STORE_NOTHING_NEW;
}

/* Without memory for one, the next report tries again, and says so. */
static void prepare(struct store *store)
{
    if (store->stand_in.maps[BANK_COUNTS] < 0)
        (void)banks_enlarge(store, &store->stand_in);
}

int store_settle(struct store *store)
{
    if (store->needs_stand_in)
        prepare(store);
    return settled_advance(&store->settled, &store->controls.grace);
}

static int empty_bank(struct store *store, struct bank *bank, bool again, store_drain *drain,
                      void *context)
{
    int result = take_account(store, bank);

    return result ? result : drain(context, bank, again);
}

static int collect(struct store *store, bool again, store_drain *drain, void *context)
{
    bool has_stand_in = store->stand_in.maps[BANK_COUNTS] >= 0;
    /* What came while the last report was drained: nobody writes there now. */
    int result = has_stand_in ? empty_bank(store, &store->stand_in, again, drain, context) : 0;

    if (!result && again)
        result = banks_enlarge(store, &store->stand_in);
    if (!result)
        result = controls_set_and_wait(&store->controls, again ? CONTROL_STAND_IN : CONTROL_PAUSED);
    if (!result)
        result = empty_bank(store, &store->main, again, drain, context);
    if (!result && again)
        result = banks_enlarge(store, &store->main);
    if (!result && again)
        result = controls_set_and_wait(&store->controls, store->main.mode);
    return result;
}

int store_drain_by(struct store *store, bool again, store_drain *drain, void *context)
{
    bpf_begin_unpreempted();
    int result = collect(store, again, drain, context);
    bpf_end_unpreempted();
    return result;
}
