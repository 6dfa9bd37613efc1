/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
    return ring_table_add(&counts->counter.table, &key, 1);
}

size_t ring_table_most(uint64_t asked)
{
    const uint64_t by_memory = kernel_free_memory() / MOST_SHARE / ENTRY_BYTES;

    if (asked)
        return (size_t)asked;
    return by_memory < LEAST_ENTRIES ? LEAST_ENTRIES : by_memory < MOST_ENTRIES ? (size_t)by_memory
        : MOST_ENTRIES;
}

enum collector_news ring_counter_look(struct collector *collector)
{
    struct ring_counter *counter = (struct ring_counter *)collector;
    const struct ring_table *table = &counter->table;

    pthread_mutex_lock(&counter->source.lock);
    const size_t count = table->tally.count;
    pthread_mutex_unlock(&counter->source.lock);
    return count > table->most / 2 ? COLLECTOR_IS_FILLING : count ? COLLECTOR_HAS_NEWS
        : COLLECTOR_NOTHING_NEW;
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
    ring_table_free(&counter->table);
}

static enum caller_seen see_kernel(struct ring_callers *callers, uint64_t caller,
                                   const uint64_t *frames, size_t count)
{
    if (count > 1 && frames[1] == caller)
        callers->kernel_finds = true;
    return count && (count < 2 || frames[1] != caller) ? CALLER_IS_MISSING : CALLER_IS_THERE;
}

static enum caller_seen see(struct ring_callers *callers, struct ring_table *table, size_t i)
{
    struct tally *tally = &table->tally;
    const bool kernel = table->flags[i] & KEY_KERNEL_START;
    const struct tally_task *task = &tally->entries[i].task;
    const struct stack *stack = kernel ? &task->kernel : &task->user;
    const uint64_t *frames = tally->addresses + stack->first, caller = table->callers[i];

    return kernel ? see_kernel(callers, caller, frames, stack->count)
                  : callers_see(&callers->of_users, caller, table->flags[i], frames, stack->count);
}

/*
 * One stack can decide about others, so a first pass looks at all. If the kernel's walk was seen to
 * find callers, any other second frame (a trampoline's, for one) is right, and no caller is added.
 */
static int ring_callers_complete(struct ring_callers *callers, struct ring_table *table,
                                 uint32_t depth)
{
    struct tally *tally = &table->tally;
    int result = 0;

    for (size_t i = 0; i < tally->count; i++)
        if (table->callers[i])
            (void)see(callers, table, i);
    for (size_t i = 0; i < tally->count && !result && depth > 1; i++) {
        const uint64_t flags = table->flags[i];
        const bool kernel = flags & KEY_KERNEL_START;
        struct tally_task *task = &tally->entries[i].task;
        const enum caller_seen seen = table->callers[i] ? see(callers, table, i) : CALLER_IS_THERE;
        if ((seen == CALLER_IS_MISSING && !(kernel && callers->kernel_finds)) ||
            (seen == CALLER_IN_DOUBT && callers_are_left_out(&callers->of_users, flags)))
            result = callers_insert(tally, kernel ? &task->kernel : &task->user,
                                    table->callers[i], depth);
    }
    return result;
}

static int collect(struct collector *collector, bool again, struct tally *tally)
{
    struct ring_counts *counts = (struct ring_counts *)collector;
    struct ring_source *source = &counts->counter.source;
    struct ring_table *table = &counts->counter.table;

    pthread_mutex_lock(&source->lock);
    int result = source->failure;
    if (!result)
        result = ring_source_read(source, !again);
    if (!result)
        result = ring_callers_complete(&counts->callers, table, source->depth);
    counts->counter.table_full += table->full;
    if (!result)
        result = ring_table_move(table, tally);
    pthread_mutex_unlock(&source->lock);
    return result;
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

/* ---- Comparison ---- */

static uint64_t hash_stack(uint64_t hash, const struct ring_stack *stack)
{
    hash = hash_word(hash, stack->count);
    for (size_t i = 0; i < stack->count; i++)
        hash = hash_word(hash, stack->frames[i]);
    return hash;
}

static uint64_t hash_task(uint64_t hash, const struct counted_task *task)
{
    uint64_t name[2] = {0};

    memcpy(name, task->who.comm, sizeof(name));
    hash = hash_word(hash_word(hash, name[0]), name[1]);
    hash = hash_word(hash_word(hash, task->who.pid),
                     (uint64_t)task->who.tid << 32 | (uint32_t)task->who.generation);
    return hash_stack(hash_stack(hash, &task->kernel), &task->user);
}

static bool is_stack(const struct tally *tally, const struct stack *kept,
                     const struct ring_stack *stack)
{
    return kept->count == stack->count &&
           (!stack->count || !memcmp(tally->addresses + kept->first, stack->frames,
                                     stack->count * sizeof(*stack->frames)));
}

static bool is_task(const struct tally *tally, const struct tally_task *kept,
                    const struct counted_task *task)
{
    return kept->pid == task->who.pid && kept->tid == task->who.tid &&
        kept->generation == task->who.generation &&
           kept->foreign == task->who.foreign && !strcmp(kept->comm, task->who.comm) &&
           is_stack(tally, &kept->kernel, &task->kernel) &&
               is_stack(tally, &kept->user, &task->user);
}

static struct tally_entry *find(const struct ring_table *table, const struct ring_key *key,
                                uint64_t hash)
{
    uint32_t item;
    size_t at = 0;

    while (index_next(&table->index, hash, &at, &item)) {
        struct tally_entry *entry = &table->tally.entries[item];
        if (entry->mark == key->mark && table->callers[item] == key->task.caller &&
            entry->has_waker == (key->waker != NULL) &&
            is_task(&table->tally, &entry->task, &key->task) &&
            (!key->waker || is_task(&table->tally, &entry->waker, key->waker)))
            return entry;
    }
    return NULL;
}

/* ---- New entries ---- */

static int keep_task(struct tally *tally, struct tally_task *to, const struct counted_task *task)
{
    struct stack kernel, user;
    int result = tally_add_stack(tally, &kernel, task->kernel.frames, task->kernel.count);

    if (!result)
        result = tally_add_stack(tally, &user, task->user.frames, task->user.count);
    if (result)
        return result;
    *to = task->who;
    to->kernel = kernel;
    to->user = user;
    return 0;
}

static int make(struct tally *tally, const struct ring_key *key, struct tally_entry **made)
{
    struct tally_entry *entry = *made = tally_add(tally);
    int result = entry ? keep_task(tally, &entry->task, &key->task) : -ENOMEM;

    if (!result && key->waker)
        result = keep_task(tally, &entry->waker, key->waker);
    if (result)
        return result;
    entry->has_waker = key->waker != NULL;
    entry->mark = key->mark;
    return 0;
}

static int keep(struct ring_table *table, const struct ring_key *key, uint64_t hash,
                struct tally_entry **made)
{
    struct tally *tally = &table->tally;
    const size_t item = tally->count;

    if (array_reserve(&table->callers, &table->callers_room, item + 1, sizeof(uint64_t)) ||
        array_reserve(&table->flags, &table->flags_room, item + 1, sizeof(uint64_t)))
        return -ENOMEM;
    int result = make(tally, key, made);
    if (!result)
        result = index_add(&table->index, hash, (uint32_t)item);
    if (result) {
        tally->count = item;
        return result;
    }
    table->callers[item] = key->task.caller;
    table->flags[item] = key->task.flags;
    return 0;
}

int ring_table_add(struct ring_table *table, const struct ring_key *key, uint64_t value)
{
    uint64_t hash = hash_task(key->task.caller, &key->task);

    if (key->waker)
        hash = hash_task(hash, key->waker);
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

int ring_table_put(struct tally *tally, const struct ring_key *key, uint64_t value)
{
    struct tally_entry *entry;
    int result = make(tally, key, &entry);

    if (result)
        return result;
    entry->value = entry->longest = value;
    entry->events = 1;
    return 0;
}

/* ---- Emptying ---- */

static int copy_stack(struct tally *to, const struct tally *from, struct stack *stack)
{
    return stack->state == STACK_KEPT
        ? tally_add_stack(to, stack, from->addresses + stack->first, stack->count)
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

int ring_table_move(struct ring_table *table, struct tally *to)
{
    int result = 0;

    for (size_t i = 0; i < table->tally.count && !result; i++)
        result = copy(to, &table->tally, &table->tally.entries[i]);
    tally_clear(&table->tally);
    index_free(&table->index);
    if (!result)
        result = drain_uncounted(to, table->full, table->full_value);
    table->full = table->full_value = 0;
    return result;
}

void ring_table_free(struct ring_table *table)
{
    tally_free(&table->tally);
    index_free(&table->index);
    free(table->callers);
    free(table->flags);
    *table = (struct ring_table){.most = 0};
}
