/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "collect/bpf_counts.h"

#include "kernel/limits.h"
#include "kernel/refusal.h"

static struct bpf_counts *counts_of(struct collector *collector)
{
    return (struct bpf_counts *)collector;
}

static const struct bpf_counts *seen_counts_of(const struct collector *collector)
{
    return (const struct bpf_counts *)collector;
}

int bpf_counts_open(struct collector *collector, struct text *why)
{
    struct bpf_counts *counts = counts_of(collector);
    int result = store_open(&counts->store, &counts->wishes);
    struct text refusal = {0};

    if (!result)
        return 0;
    refusal_explain(REFUSED_MAPS, result, store_bytes(&counts->store), &refusal);
    text_format(why, "cannot create maps: %s", text_or_error(&refusal, result));
    text_free(&refusal);
    return result;
}

int bpf_counts_start(struct collector *collector)
{
    return store_start(&counts_of(collector)->store);
}

void bpf_counts_account(struct collector *collector, struct collector_account *account)
{
    const struct store *store = &seen_counts_of(collector)->store;

    *account = (struct collector_account){
        .seen = store->sum.seen,
        .filtered = store->sum.filtered,
        .counted = store->counted,
        .lost = store_lost(store),
        .unknown = store_account_gap(store),
        .stacks = store_stacks_kept(store),
        .bytes = store_bytes(store),
        .depth = store->depth,
    };
}

void bpf_counts_add_losses(const struct collector *collector, struct missing *missing)
{
    const struct store *store = &seen_counts_of(collector)->store;
    const struct losses *losses = &seen_counts_of(collector)->losses;
    const struct account *sum = &store->sum;

    missing_add(missing, &(struct loss){.count = sum->table_full},
                "are only in the total, as [table full]: the table of %u counts was full; raise "
                "--stack-storage-size (it was %u)", store->main.entries[BANK_COUNTS], store->stacks);
    missing_add(missing, &(struct loss){.count = sum->slots_taken, .beside = true},
                "were not counted: more than %d BPF programs were nested on a CPU; shorter stacks "
                "(--depth, -K, -U) make that rarer", SLOTS_PER_CPU);
    missing_add(missing, &(struct loss){.count = sum->negative},
                "are in no sum: their value was negative");
    missing_add(missing, &(struct loss){.count = store_wraps(store) ? MISSING_UNCOUNTED : 0, .events = "sums"},
                "are too small: they overflowed 2^64 %llu times",
                (unsigned long long)store_wraps(store));
    missing_add(missing, &(struct loss){.count = losses->walks_failed},
                "are counted without their stack: the kernel could not walk it; -K avoids user "
                "stacks");
    missing_add(missing, &(struct loss){.count = losses->stacks_lost},
                "are counted without their stack: stack storage was full; raise "
                "--stack-storage-size (it was %u)", store->stacks);
}

void bpf_counts_describe(const struct collector *collector, bool again, struct text *lines)
{
    const struct store *store = &seen_counts_of(collector)->store;

    (void)again;
    text_add(lines, "maps: ");
    if (store->banks.shallow_depth)
        text_format(lines, "%u stacks of %u frames, ", store->wanted[BANK_SHALLOW],
                    store->banks.shallow_depth);
    text_format(lines, "%u%s of %u frames%s, %u counts; %llu KB in all, %llu KB of memory are free\n",
                store->wanted[BANK_DEEP], store->banks.shallow_depth ? "" : " stacks", store->depth,
                store->settled.ids.buckets ? " (by ids and by hashes)" : "", store->wanted[BANK_COUNTS],
                (unsigned long long)store_bytes(store) / 1024,
                (unsigned long long)kernel_free_memory() / 1024);
}

void bpf_counts_close(struct collector *collector)
{
    store_close(&counts_of(collector)->store);
}

enum collector_news bpf_counts_look(struct collector *collector)
{
    switch (store_look(&counts_of(collector)->store)) {
    case STORE_NOTHING_NEW:
        return COLLECTOR_NOTHING_NEW;
    case STORE_IS_FILLING:
        return COLLECTOR_IS_FILLING;
    case STORE_HAS_NEWS:
        break;
    }
    return COLLECTOR_HAS_NEWS;
}

int bpf_counts_settle(struct collector *collector)
{
    return store_settle(&counts_of(collector)->store);
}

static int collect(struct collector *collector, bool again, struct tally *tally)
{
    struct bpf_counts *counts = counts_of(collector);

    return drain_counts(&counts->store, again, tally, &counts->losses);
}

static const struct collector_calls calls = {
    .open = bpf_counts_open,
    .start = bpf_counts_start,
    .account = bpf_counts_account,
    .add_losses = bpf_counts_add_losses,
    .describe = bpf_counts_describe,
    .close = bpf_counts_close,
    .look = bpf_counts_look,
    .settle = bpf_counts_settle,
    .collect = collect,
};

void bpf_counts_init(struct bpf_counts *counts, const struct store_wishes *wishes)
{
    *counts = (struct bpf_counts){.collector.calls = &calls, .wishes = *wishes};
    store_init(&counts->store);
}
