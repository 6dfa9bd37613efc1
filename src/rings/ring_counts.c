/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "rings/ring_counts.h"

#include <errno.h>

#include "kernel/limits.h"

/* Roughly what an entry takes, and the part of free memory that they may use. */
#define ENTRY_BYTES 1024
#define MOST_SHARE 16
#define LEAST_ENTRIES 1024
#define MOST_ENTRIES (1u << 20)

static struct ring_counts *counts_of(struct collector *collector)
{
    return (struct ring_counts *)collector;
}

static const struct ring_counts *seen_counts_of(const struct collector *collector)
{
    return (const struct ring_counts *)collector;
}

/* A thread that began while events were opened may have its own and an inherited one. */
static bool is_twice(struct ring_source *source, const struct ring_sample *sample)
{
    if (source->rings.wishes.tid_count < 2)
        return false;
    struct ring_task_state *task = ring_tasks_of(&source->tasks, sample->pid, sample->tid);
    if (!task->event)
        task->event = sample->event;
    return task->event != sample->event;
}

static int take(void *context, const struct ring_record *record)
{
    struct ring_counts *counts = context;
    struct ring_source *source = &counts->source;
    struct ring_key key = {.waker = NULL};

    if (record->kind != RECORD_SAMPLE)
        return 0;
    if (is_twice(source, &record->sample)) {
        source->twice++;
        return 0;
    }
    if (!ring_source_wants(source, &record->sample)) {
        source->filtered++;
        return 0;
    }
    ring_source_party(source, record, rings_number(&source->rings, record->sample.event), &key.task);
    source->counted++;
    return ring_table_add(&counts->table, &key, 1);
}

size_t ring_counts_most(uint64_t stacks)
{
    const uint64_t by_memory = kernel_free_memory() / MOST_SHARE / ENTRY_BYTES;

    if (stacks)
        return (size_t)stacks;
    return by_memory < LEAST_ENTRIES ? LEAST_ENTRIES : by_memory < MOST_ENTRIES ? (size_t)by_memory : MOST_ENTRIES;
}

static int open_counts(struct collector *collector, struct text *why)
{
    struct ring_counts *counts = counts_of(collector);

    counts->table.most = ring_counts_most(counts->source.wishes.stacks);
    return ring_source_open(&counts->source, take, counts, why);
}

static int start(struct collector *collector)
{
    return ring_source_start(&counts_of(collector)->source);
}

static void account(struct collector *collector, struct collector_account *account)
{
    struct ring_source *source = &counts_of(collector)->source;

    pthread_mutex_lock(&source->lock);
    ring_source_account(source, account);
    pthread_mutex_unlock(&source->lock);
}

static void add_losses(const struct collector *collector, struct missing *missing)
{
    const struct ring_counts *counts = seen_counts_of(collector);

    ring_source_add_losses(&counts->source, missing);
    missing_add(missing, &(struct loss){.count = counts->table_full},
                "are only in the total, as [table full]: the table of %zu counts was full; raise "
                "--stack-storage-size", counts->table.most);
}

static void describe(const struct collector *collector, bool again, struct text *lines)
{
    (void)again;
    ring_source_describe(&seen_counts_of(collector)->source, lines);
}

static void close_counts(struct collector *collector)
{
    struct ring_counts *counts = counts_of(collector);

    ring_source_close(&counts->source);
    ring_table_free(&counts->table);
}

static enum collector_news look(struct collector *collector)
{
    struct ring_counts *counts = counts_of(collector);
    struct ring_table *table = &counts->table;

    pthread_mutex_lock(&counts->source.lock);
    const size_t count = table->tally.count;
    pthread_mutex_unlock(&counts->source.lock);
    return count > table->most / 2 ? COLLECTOR_IS_FILLING : count ? COLLECTOR_HAS_NEWS : COLLECTOR_NOTHING_NEW;
}

static int settle(struct collector *collector)
{
    return ring_source_begin_reading(&counts_of(collector)->source);
}

static int collect(struct collector *collector, bool again, struct tally *tally)
{
    struct ring_counts *counts = counts_of(collector);

    pthread_mutex_lock(&counts->source.lock);
    int result = counts->source.failure;
    if (!result)
        result = ring_source_read(&counts->source, !again);
    if (!result)
        result = ring_callers_complete(&counts->callers, &counts->table, counts->source.depth);
    counts->table_full += counts->table.full;
    if (!result)
        result = ring_table_move(&counts->table, tally);
    pthread_mutex_unlock(&counts->source.lock);
    return result;
}

static const struct collector_calls calls = {
    .open = open_counts,
    .start = start,
    .account = account,
    .add_losses = add_losses,
    .describe = describe,
    .close = close_counts,
    .look = look,
    .settle = settle,
    .collect = collect,
};

void ring_counts_init(struct ring_counts *counts, const struct ring_wishes *wishes)
{
    *counts = (struct ring_counts){.collector.calls = &calls, .source.wishes = *wishes};
}
