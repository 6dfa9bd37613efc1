/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "collect/bpf_counts.h"
#include "kernel/limits.h"
#include "kernel/refusal.h"
#include "kernel/task_fields.h"
#include "store/waits.h"

static int bpf_counts_open(struct collector *collector, struct text *why)
{
    struct bpf_counts *counts = (struct bpf_counts *)collector;
    int result = store_open(&counts->store, &counts->config);

    return result ? refusal_of_maps(result, store_bytes(&counts->store), why) : 0;
}

static int bpf_counts_start(struct collector *collector)
{
    return store_start(&((struct bpf_counts *)collector)->store);
}

static void bpf_counts_account(struct collector *collector, struct collector_account *account)
{
    const struct store *store = &((const struct bpf_counts *)collector)->store;

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

static void bpf_counts_add_losses(const struct collector *collector, struct losses *losses)
{
    const struct store *store = &((const struct bpf_counts *)collector)->store;
    const struct drain_losses *lost = &((const struct bpf_counts *)collector)->losses;
    const struct account *sum = &store->sum;

    losses_add(losses, &(struct loss){.count = sum->table_full},
               "are only in the total, as [table full]: the table of %u counts was full; raise "
               "--stack-storage-size (it was %u)", store->main.entries[BANK_COUNTS],
               store->stacks);
    losses_add(losses, &(struct loss){.count = sum->slots_taken, .beside = true},
               "were not counted: more than %d BPF programs were nested on a CPU; shorter stacks "
               "(--depth, -K, -U) make that rarer", SLOTS_PER_CPU);
    losses_add(losses, &(struct loss){.count = sum->negative},
               "are in no sum: their value was negative");
    losses_add(losses, &(struct loss){.count = store_wraps(store) ? LOSSES_UNCOUNTED : 0,
                                      .events = "sums"},
                "are too small: they overflowed 2^64 %llu times",
                (unsigned long long)store_wraps(store));
    losses_add(losses, &(struct loss){.count = lost->walks_failed},
               "are counted without their stack: the kernel could not walk it; -K avoids user "
               "stacks");
    losses_add(losses, &(struct loss){.count = lost->stacks_lost},
               "are counted without their stack: stack storage was full; raise "
               "--stack-storage-size (it was %u)", store->stacks);
}

static void bpf_counts_describe(const struct collector *collector, bool again, struct text *lines)
{
    const struct store *store = &((const struct bpf_counts *)collector)->store;

    (void)again;
    text_add(lines, "maps: ");
    if (store->banks.shallow_depth)
        text_format(lines, "%u stacks of %u frames, ", store->wanted[BANK_SHALLOW],
                    store->banks.shallow_depth);
    text_format(lines,
                "%u%s of %u frames%s, %u counts; %llu KB in all, %llu KB of memory are free\n",
                store->wanted[BANK_DEEP], store->banks.shallow_depth ? "" : " stacks", store->depth,
                store->settled.ids.buckets ? " (by ids and by hashes)" : "",
                    store->wanted[BANK_COUNTS],
                (unsigned long long)store_bytes(store) / 1024,
                (unsigned long long)kernel_free_memory() / 1024);
}

static void bpf_counts_close(struct collector *collector)
{
    store_close(&((struct bpf_counts *)collector)->store);
}

static enum tally_news bpf_counts_look(struct collector *collector)
{
    return store_look(&((struct bpf_counts *)collector)->store);
}

static int bpf_counts_settle(struct collector *collector)
{
    return store_settle(&((struct bpf_counts *)collector)->store);
}

static int collect(struct collector *collector, bool again, struct tally *tally)
{
    struct bpf_counts *counts = (struct bpf_counts *)collector;

    return drain_counts(&counts->store, again, tally, &counts->losses);
}

static const struct collector_calls calls = {
    .open = bpf_counts_open,
    .start = bpf_counts_start,
    .account = bpf_counts_account,
    .add_losses = bpf_counts_add_losses,
    .describe = bpf_counts_describe,
    .close = bpf_counts_close,
};

static const struct counter_calls counter = {
    .look = bpf_counts_look,
    .settle = bpf_counts_settle,
    .collect = collect,
};

void bpf_counts_init(struct bpf_counts *counts, const struct store_config *config)
{
    *counts = (struct bpf_counts){.collector = {.calls = &calls, .counter = &counter},
                                  .config = *config};
    store_init(&counts->store);
}

static int open_waits(struct collector *collector, struct text *why)
{
    struct waits *waits = &((struct bpf_waits *)collector)->waits;
    struct task_fields needed_later;

    /* Comes before the maps: a small machine has no room for the kernel's types beside them. */
    task_fields_find(&needed_later);
    int result = bpf_counts_open(collector, why);
    if (result)
        return result;
    waits->store = &((struct bpf_waits *)collector)->counts.store;
    result = waits_open(waits);
    return result ? refusal_of_maps(result, waits_bytes(waits), why) : 0;
}

/* Which threads wait is known at the end only, and so which events the account lacks. */
static void account_waits(struct collector *collector, struct collector_account *account)
{
    const struct bpf_waits *of = (const struct bpf_waits *)collector;

    bpf_counts_account(collector, account);
    account->open = of->waits.open;
    account->unknown = of->has_ended ? account->unknown - (int64_t)account->open : 0;
}

static void add_waits_losses(const struct collector *collector, struct losses *losses)
{
    const struct account *account = &((const struct bpf_waits *)collector)->counts.store.sum;
    const struct waits *waits = &((const struct bpf_waits *)collector)->waits;
    const struct loss unseen = {
        .count = account->waits_full + account->wakes_full,
        .events = "events of threads",
        .beside = true,
    };

    bpf_counts_add_losses(collector, losses);
    losses_add(losses, &unseen, waits->for_all
               ? "were not seen: the map of waits was full, with %u threads (kernel.threads-max, "
                 "when this run began); select fewer with -p, -t or --cgroup"
               : "were not seen: free memory allowed for only %u waiting threads; select fewer "
                 "with -p, -t or --cgroup", waits->entries);
    losses->unfit += account->unfit;
    losses_add(losses, &(struct loss){account->ends_unseen, "waits", .beside = true,
                                      .matters = LOSSES_ENDS_MATTER},
                "are not counted: the kernel did not show their threads running again");
}

static void describe_waits(const struct collector *collector, bool again, struct text *lines)
{
    const struct waits *waits = &((const struct bpf_waits *)collector)->waits;

    bpf_counts_describe(collector, again, lines);
    if (!again)
        text_format(lines, "map of waits: %u threads, %llu KB\n", waits->entries,
                    (unsigned long long)waits_bytes(waits) / 1024);
}

static int collect_waits(struct collector *collector, bool again, struct tally *tally)
{
    struct bpf_waits *of = (struct bpf_waits *)collector;
    int result = of->waits.view == VIEW_WALL
                     ? drain_wall(&of->report, &of->waits, again, tally, &of->counts.losses)
                     : drain_waits(&of->waits, again, tally, &of->counts.losses);

    of->has_ended = !result && !again;
    return result;
}

static void close_waits(struct collector *collector)
{
    waits_close(&((struct bpf_waits *)collector)->waits);
    bpf_counts_close(collector);
}

static const struct collector_calls waits_calls = {
    .open = open_waits,
    .start = bpf_counts_start,
    .account = account_waits,
    .add_losses = add_waits_losses,
    .describe = describe_waits,
    .close = close_waits,
};

static const struct counter_calls waits_counter = {
    .look = bpf_counts_look,
    .settle = bpf_counts_settle,
    .collect = collect_waits,
};

void bpf_waits_init(struct bpf_waits *collector, const struct store_config *config,
                    const struct waits *waits)
{
    bpf_counts_init(&collector->counts, config);
    collector->counts.collector = (struct collector){.calls = &waits_calls,
                                                     .counter = &waits_counter};
    collector->waits = *waits;
    collector->waits.map = collector->waits.rests = -1;
    collector->report = (struct wall_report){0};
    collector->has_ended = false;
}
