/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "collect/bpf_waits.h"

#include "drain/drain_waits.h"
#include "kernel/refusal.h"
#include "kernel/task_fields.h"

static struct bpf_waits *waits_of(struct collector *collector)
{
    return (struct bpf_waits *)collector;
}

static const struct bpf_waits *seen_waits_of(const struct collector *collector)
{
    return (const struct bpf_waits *)collector;
}

static int open_waits(struct collector *collector, struct text *why)
{
    struct waits *waits = &waits_of(collector)->waits;
    struct text refusal = {0};
    struct task_fields needed_later;

    /* A small machine has no room for the kernel's types beside the maps. */
    task_fields_find(&needed_later);
    int result = bpf_counts_open(collector, why);
    if (result)
        return result;
    waits->store = &waits_of(collector)->counts.store;
    result = waits_open(waits);
    if (!result)
        return 0;
    refusal_explain(REFUSED_MAPS, result, waits_bytes(waits), &refusal);
    text_format(why, "cannot create maps: %s", text_or_error(&refusal, result));
    text_free(&refusal);
    return result;
}

/* Until the end it is unknown who is waiting, and so which events are missing from the account. */
static void account_waits(struct collector *collector, struct collector_account *account)
{
    const struct bpf_waits *of = seen_waits_of(collector);

    bpf_counts_account(collector, account);
    account->open = of->waits.open;
    account->unknown = of->has_ended ? account->unknown - (int64_t)account->open : 0;
}

static void add_losses(const struct collector *collector, struct missing *missing)
{
    const struct account *account = &seen_waits_of(collector)->counts.store.sum;
    const struct waits *waits = &seen_waits_of(collector)->waits;
    const struct loss unseen = {
        .count = account->waits_full + account->wakes_full,
        .events = "events of threads",
        .beside = true,
    };

    bpf_counts_add_losses(collector, missing);
    missing_add(missing, &unseen, waits->for_all
                ? "were not seen: the map of waits was full, with %u threads (kernel.threads-max, when "
                  "this run began); select fewer with -p, -t or --cgroup"
                : "were not seen: free memory allowed for only %u waiting threads; select fewer with -p, "
                  "-t or --cgroup", waits->entries);
    missing->unfit += account->unfit;
    missing_add(missing, &(struct loss){account->ends_unseen, "waits", .beside = true, .matters = MISSING_ENDS_MATTER},
                "are not counted: the kernel did not show their threads running again");
}

static void describe(const struct collector *collector, bool again, struct text *lines)
{
    const struct waits *waits = &seen_waits_of(collector)->waits;

    bpf_counts_describe(collector, again, lines);
    if (!again)
        text_format(lines, "map of waits: %u threads, %llu KB\n", waits->entries,
                    (unsigned long long)waits_bytes(waits) / 1024);
}

static int collect(struct collector *collector, bool again, struct tally *tally)
{
    struct bpf_waits *of = waits_of(collector);
    int result = of->waits.view == VIEW_WALL
                     ? drain_wall(&of->walling, &of->waits, again, tally, &of->counts.losses)
                     : drain_waits(&of->waits, again, tally, &of->counts.losses);

    of->has_ended = !result && !again;
    return result;
}

static void close_waits(struct collector *collector)
{
    waits_close(&waits_of(collector)->waits);
    bpf_counts_close(collector);
}

static const struct collector_calls calls = {
    .open = open_waits,
    .start = bpf_counts_start,
    .account = account_waits,
    .add_losses = add_losses,
    .describe = describe,
    .close = close_waits,
    .look = bpf_counts_look,
    .settle = bpf_counts_settle,
    .collect = collect,
};

void bpf_waits_init(struct bpf_waits *collector, const struct store_wishes *wishes,
                    const struct waits *waits)
{
    bpf_counts_init(&collector->counts, wishes);
    collector->counts.collector.calls = &calls;
    collector->waits = *waits;
    collector->waits.map = collector->waits.rests = -1;
    collector->walling = (struct walling){0};
    collector->has_ended = false;
}
