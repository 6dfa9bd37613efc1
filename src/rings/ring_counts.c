/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/util.h"
#include "insns/layout.h"
#include "kernel/limits.h"
#include "rings/ring_collectors.h"
#include "rings/ring_source.h"

/* Roughly what an entry takes, and the part of free memory that entries may take. */
#define ENTRY_BYTES 1024
#define MOST_SHARE 16
#define LEAST_ENTRIES 1024
#define MOST_ENTRIES (1u << 20)

/* A thread born while events are opened may have two, its own and an inherited one: one counts. */
static bool is_twice(struct ring_source *source, const struct ring_sample *sample)
{
    if (source->rings.config.tid_count < 2)
        return false;
    struct ring_task_state *task = ring_tasks_of(&source->tasks, sample->pid, sample->tid);
    if (!task->event)
        task->event = sample->event;
    return task->event != sample->event;
}

static int take(void *context, const struct ring_record *record)
{
    struct ring_counts *counts = context;
    struct ring_source *source = &counts->counter.source;
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
    ring_source_task(source, record, rings_number(&source->rings, record->sample.event),
                     &key.task);
    source->counted++;
    return ring_count(&counts->counter.table, &key, 1);
}

size_t ring_table_most(uint64_t asked)
{
    const uint64_t by_memory = kernel_free_memory() / MOST_SHARE / ENTRY_BYTES;

    if (asked)
        return (size_t)asked;
    return by_memory < LEAST_ENTRIES ? LEAST_ENTRIES : by_memory < MOST_ENTRIES ? (size_t)by_memory
        : MOST_ENTRIES;
}

enum tally_news ring_table_look(const struct tally *table, pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    const size_t count = table->count;
    pthread_mutex_unlock(lock);
    return count > table->most / 2 ? IS_FILLING : count ? HAS_NEWS : NOTHING_NEW;
}

enum tally_news ring_counter_look(struct collector *collector)
{
    struct ring_counter *counter = (struct ring_counter *)collector;

    return ring_table_look(&counter->table, &counter->source.lock);
}

void ring_counter_add_losses(const struct collector *collector, struct losses *losses)
{
    const struct ring_counter *counter = (const struct ring_counter *)collector;

    ring_source_add_losses(collector, losses);
    losses_add(losses, &(struct loss){.count = counter->table_full},
               "are only in the total, as [table full]: the table of %zu counts was full; raise "
               "--stack-storage-size", counter->table.most);
}

static int open_counts(struct collector *collector, struct text *why)
{
    struct ring_counts *counts = (struct ring_counts *)collector;

    counts->counter.table.most = ring_table_most(counts->counter.source.options.stacks);
    return ring_source_open(&counts->counter.source, take, counts, why);
}

static void close_counts(struct collector *collector)
{
    struct ring_counter *counter = &((struct ring_counts *)collector)->counter;

    ring_source_close(&counter->source);
    tally_free(&counter->table);
}

int ring_counter_collect(struct ring_counter *counter, bool again, struct tally *tally)
{
    struct ring_source *source = &counter->source;

    pthread_mutex_lock(&source->lock);
    int result = source->failure;
    if (!result)
        result = ring_source_read(source, !again);
    counter->table_full += counter->table.full;
    if (!result)
        result = tally_move(&counter->table, tally);
    pthread_mutex_unlock(&source->lock);
    return result;
}

static int collect(struct collector *collector, bool again, struct tally *tally)
{
    struct ring_counts *counts = (struct ring_counts *)collector;
    const uint32_t depth = counts->counter.source.depth;
    const int result = ring_counter_collect(&counts->counter, again, tally);

    return result ? result : callers_complete(&counts->callers, tally, depth);
}

static const struct collector_calls calls = {
    .open = open_counts,
    .start = ring_source_start,
    .account = ring_source_account,
    .add_losses = ring_counter_add_losses,
    .describe = ring_source_describe,
    .close = close_counts,
};

static const struct counter_calls counter = {
    .look = ring_counter_look,
    .settle = ring_source_settle,
    .collect = collect,
};

void ring_counts_init(struct ring_counts *counts, const struct ring_options *options)
{
    *counts = (struct ring_counts){
        .counter.source = {.collector = {.calls = &calls, .counter = &counter},
                           .options = *options},
    };
}

/* ---- A tally's entry ---- */

static int take_task(struct tally *tally, struct tally_task *to, const struct counted_task *task)
{
    *to = task->who;
    int result = tally_add_stack(tally, &to->kernel, task->kernel.frames, task->kernel.count);
    return result ? result
        : tally_add_stack(tally, &to->user, task->user.frames, task->user.count);
}

int ring_entry(struct tally *tally, const struct ring_key *key, uint64_t value,
               struct tally_entry *entry)
{
    *entry = (struct tally_entry){
        .value = value,
        .events = 1,
        .longest = value,
        .caller = key->task.caller,
        .mark = key->mark,
        .flags = key->task.caller ? (uint16_t)key->task.flags : 0,
        .has_waker = key->waker != NULL,
    };
    int result = take_task(tally, &entry->task, &key->task);
    return result || !key->waker ? result : take_task(tally, &entry->waker, key->waker);
}

int ring_count(struct tally *tally, const struct ring_key *key, uint64_t value)
{
    struct tally_entry entry;
    int result = ring_entry(tally, key, value, &entry);

    return result ? result : tally_count(tally, &entry);
}
