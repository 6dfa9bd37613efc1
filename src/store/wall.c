/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "kernel/bpf.h"
#include "store/waits.h"

/* A part of a thread's time. */
struct wall_row {
    struct task_stacks task;
    uint32_t part; /* an enum wall_part; SAMPLES: by these, running time is divided */
    uint64_t time, events;
};
#define SAMPLES WALL_PARTS

/* A thread's entry. */
struct wall_thread {
    uint64_t key;
    bool is_rest; /* as it was before its first event after the cut */
    struct wall wall;
};

struct taking {
    struct waits_taking of; /* first */
    struct wall_report *report;
    bool is_last;
    struct wall_row *rows;
    size_t count, room;
    struct wall_thread *threads;
    size_t thread_count, thread_room;
};

/* ---- Rows ---- */

static int add_row(struct taking *taking, const struct task_stacks *task, uint32_t part,
                   uint64_t time, uint64_t events)
{
    if (!time && !events)
        return 0;
    if (ARRAY_RESERVE(taking->rows, taking->room, taking->count + 1))
        return -ENOMEM;
    struct wall_row *row = &taking->rows[taking->count++];
    *row = (struct wall_row){*task, part, time, events};
    row->task.flags &= KEY_FOREIGN;
    if (part < WALL_RUNNABLE)
        row->task.kernel_stack = row->task.user_stack = NO_STACK;
    return 0;
}

static int add_parts(struct taking *taking, const struct task_stacks *task,
                     const uint64_t spent[WALL_PARTS], uint64_t events)
{
    int result = 0;

    for (uint32_t part = 0; part < WALL_PARTS && !result; part++) {
        result = spent[part] ? add_row(taking, task, part, spent[part], events) : 0;
        events = spent[part] ? 0 : events;
    }
    return result;
}

static int take_count(void *context, const void *key, const void *value)
{
    struct taking *taking = context;
    struct task_stacks task;
    struct walled walled;

    memcpy(&task, key, sizeof(task));
    memcpy(&walled, value, sizeof(walled));
    taking->of.waits->store->counted += walled.events;
    return task.flags & TASK_SAMPLE ? add_row(taking, &task, SAMPLES, 0, walled.events)
                                      : add_parts(taking, &task, walled.spent, walled.events);
}

/* ---- Entries ---- */

static int take_thread(struct taking *taking, bool is_rest, const void *key, const void *value)
{
    struct stack_table *stacks = &taking->of.waits->stacks;

    if (ARRAY_RESERVE(taking->threads, taking->thread_room, taking->thread_count + 1))
        return -ENOMEM;
    struct wall_thread *thread = &taking->threads[taking->thread_count++];
    thread->is_rest = is_rest;
    memcpy(&thread->key, key, sizeof(thread->key));
    memcpy(&thread->wall, value, sizeof(thread->wall));
    stack_table_keep(stacks, thread->wall.target.kernel_stack);
    stack_table_keep(stacks, thread->wall.target.user_stack);
    return 0;
}

static int take_entry(void *context, const void *key, const void *value)
{
    return take_thread(context, false, key, value);
}

static int take_rest(void *context, const void *key, const void *value)
{
    return take_thread(context, true, key, value);
}

/* A thread's rest comes first. */
static int compare_entries(const void *one, const void *other)
{
    const struct wall_thread *a = one, *b = other;

    return order_of(a->key, b->key) ?: order_of(b->is_rest, a->is_rest);
}

/* Adds the time before the cut that neither a count nor an earlier report has. */
static int add_open(struct taking *taking, const struct wall *wall,
                    const struct task_stacks *target)
{
    const uint64_t began = taking->report->began, cut = taking->report->ended;
    const struct waits *waits = taking->of.waits;
    const bool was_told = wall->target.flags & TASK_SEEN && wall->since < began;
    uint64_t spent[WALL_PARTS] = {0};
    struct task_stacks task = *target;

    if (!was_told)
        memcpy(spent, wall->spent, sizeof(spent));
    if (wall->part < WALL_PARTS && wall->since < cut)
        spent[wall->part] += cut - (was_told ? began : wall->since);
    /* Unreported time of a running thread belongs to the time before it was known. */
    if (wall->part < WALL_RUNNABLE || cut - wall->left < waits->least)
        task.kernel_stack = task.user_stack = NO_STACK;
    return add_parts(taking, &task, spent, 0);
}

/* The thread's process is unknown: programs keep its time in the entry until they know it. */
static bool is_unplaced(const struct wall *wall)
{
    return !wall->target.flags;
}

static int compare_tids(const void *one, const void *other)
{
    const struct wall_thread *a = one, *b = other;

    return order_of(a->wall.tid, b->wall.tid);
}

static int place_thread(void *context, const struct blocked_thread *thread)
{
    struct taking *taking = context;
    const struct wall_thread key = {.wall.tid = thread->tid};
    struct wall_thread *met = bsearch(&key, taking->threads, taking->thread_count, sizeof(key),
                                      compare_tids);
    struct task_stacks task = {.kernel_stack = NO_STACK, .user_stack = NO_STACK, .pid = thread->pid,
                               .tid = thread->tid};

    if (!met || !is_unplaced(&met->wall))
        return 0;
    memcpy(task.comm, thread->comm, sizeof(task.comm));
    int result = add_open(taking, &met->wall, &task);
    met->wall.target.flags = TASK_SEEN;
    return result;
}

static int add_unplaced(struct taking *taking)
{
    const struct wall_report *report = taking->report;
    size_t kept = 0;
    int result = 0;

    for (size_t i = 0; i < taking->thread_count; i++)
        if (is_unplaced(&taking->threads[i].wall))
            taking->threads[kept++] = taking->threads[i];
    taking->thread_count = kept;
    if (!kept || !report->unplaced)
        return 0;
    qsort(taking->threads, kept, sizeof(*taking->threads), compare_tids);
    for (size_t i = 0; i < report->listed_count && !result; i++)
        result = place_thread(taking, &report->listed[i]);
    return result ? result : blocked_threads_list(report->unplaced, place_thread, taking);
}

/* All threads with counts were seen, also those that have ended by now. */
static int note_counted(const struct taking *taking)
{
    int result = 0;

    for (size_t i = 0; i < taking->count && !result; i++)
        if (!(taking->rows[i].task.flags & KEY_FOREIGN))
            result = waits_note_seen(taking->of.waits, taking->rows[i].task.tid);
    return result;
}

/* The kernel may list an entry more than once. */
static int add_entries(struct taking *taking)
{
    const uint64_t cut = taking->report->ended;
    struct waits *waits = taking->of.waits;
    size_t kept = 0;

    if (taking->thread_count)
        qsort(taking->threads, taking->thread_count, sizeof(*taking->threads), compare_entries);
    for (size_t i = 0; i < taking->thread_count; i++)
        if (!kept || taking->threads[kept - 1].key != taking->threads[i].key)
            taking->threads[kept++] = taking->threads[i];
    taking->thread_count = kept;
    waits->seen_count = 0;
    int result = note_counted(taking);
    for (size_t i = 0; i < kept && !result; i++) {
        const struct wall *wall = &taking->threads[i].wall;
        /* A thread whose first event came after the cut was in one state until then. */
        if (wall->first < cut && !(wall->target.flags & KEY_FOREIGN))
            result = waits_note_seen(waits, wall->tid);
        if (!result && wall->target.flags & TASK_SEEN && wall->since < cut)
            result = add_open(taking, wall, &wall->target);
    }
    waits->seen_count = sort_numbers(waits->seen, waits->seen_count);
    return !result && taking->is_last ? add_unplaced(taking) : result;
}

/* ---- To the tally ---- */

static int compare_threads(const struct wall_row *a, const struct wall_row *b)
{
    return order_of(a->task.pid, b->task.pid) ?: order_of(a->task.tid, b->task.tid) ?:
           order_of(a->task.flags, b->task.flags) ?:
           memcmp(a->task.comm, b->task.comm, sizeof(a->task.comm));
}

/* The rows of a thread's name are adjacent, and within them those of a part. */
static int compare(const void *one, const void *other)
{
    const struct wall_row *a = one, *b = other;

    return compare_threads(a, b) ?: order_of(a->part, b->part) ?:
           memcmp(&a->task, &b->task, sizeof(a->task));
}

static void merge(struct taking *taking)
{
    size_t kept = 0;

    if (taking->count)
        qsort(taking->rows, taking->count, sizeof(*taking->rows), compare);
    for (size_t i = 0; i < taking->count; i++) {
        struct wall_row *row = &taking->rows[i];
        if (kept && !compare(&taking->rows[kept - 1], row)) {
            taking->rows[kept - 1].time += row->time;
            taking->rows[kept - 1].events += row->events;
        } else {
            taking->rows[kept++] = *row;
        }
    }
    taking->count = kept;
}

static int put(const struct taking *taking, const struct wall_row *row, uint64_t time,
               enum tally_mark mark)
{
    struct tally_entry *entry = time ? tally_add(taking->of.tally) : NULL;

    if (!entry)
        return time ? -ENOMEM : 0;
    entry->value = time;
    entry->events = row->events ? row->events : 1;
    entry->mark = mark;
    return waits_take_task(&taking->of, &row->task, row->events, &entry->task);
}

/* Divides `time` by samples; the parts add up to it. */
static int put_sampled(const struct taking *taking, const struct wall_row *rows, size_t count,
                       uint64_t time, uint64_t samples)
{
    uint64_t seen = 0, told = 0;
    int result = 0;

    for (size_t i = 0; i < count && !result; i++) {
        seen += rows[i].events;
        uint64_t until = time / samples * seen + time % samples * seen / samples;
        result = put(taking, &rows[i], until - told, MARK_RUNNING);
        told = until;
    }
    return result;
}

/* For one thread's name: `runs` rows of running, and its samples. */
static int put_running(const struct taking *taking, const struct wall_row *rows, size_t runs,
                       const struct wall_row *of_samples, size_t count)
{
    uint64_t plain = 0, sampled = 0, samples = 0;

    for (size_t i = 0; i < runs; i++)
        *(rows[i].part == WALL_SAMPLED ? &sampled : &plain) += rows[i].time;
    for (size_t i = 0; i < count; i++)
        samples += of_samples[i].events;
    /* The samples of this stretch may be in the last report. */
    if (!samples) {
        plain += sampled;
        sampled = 0;
    }
    int result = plain ? put(taking, &rows[runs - 1], plain, MARK_NOT_SAMPLED) : 0;
    return !result && sampled ? put_sampled(taking, of_samples, count, sampled, samples) : result;
}

static int put_thread(const struct taking *taking, const struct wall_row *rows, size_t count)
{
    size_t runs = 0, first;
    int result = 0;

    while (runs < count && rows[runs].part < WALL_RUNNABLE)
        runs++;
    for (first = runs; first < count && rows[first].part < SAMPLES && !result; first++)
        result = put(taking, &rows[first], rows[first].time,
                     rows[first].part == WALL_BLOCKED ? MARK_BLOCKED : MARK_RUNNABLE);
    return result ? result : put_running(taking, rows, runs, rows + first, count - first);
}

static int put_all(struct taking *taking)
{
    int result = 0;

    merge(taking);
    for (size_t first = 0, end; first < taking->count && !result; first = end) {
        for (end = first + 1; end < taking->count; end++)
            if (compare_threads(&taking->rows[first], &taking->rows[end]))
                break;
        result = put_thread(taking, taking->rows + first, end - first);
    }
    return result;
}

/* ---- A report ---- */

/* Nothing is counted into the main bank from here on. */
static int drain(void *context, struct bank *bank, bool again)
{
    struct taking *taking = context;
    struct waits *waits = taking->of.waits;
    int result = 0;

    (void)again;
    if (bank == &waits->store->main)
        result = bpf_list(waits->map, waits_key_bytes(waits), waits_value_bytes(waits), take_entry,
                          taking);
    return result ? result : waits_take_bank(taking, bank, take_count);
}

/*
 * Programs keep rests while they count into the stand-in, as the report lists entries then. Back in
 * the main bank, they know that the report has taken what it needs.
 */
static int collect(struct taking *taking, bool again)
{
    struct waits *waits = taking->of.waits;
    struct wall_report *report = taking->report;
    const uint64_t *cut = &waits->store->controls.cut;

    stack_table_begin(&waits->stacks);
    report->began = *cut;
    int result = store_drain_by(waits->store, again, drain, taking, taking->of.tally);
    report->ended = *cut;
    if (!result)
        result = bpf_drain(waits->rests, waits_key_bytes(waits), waits_value_bytes(waits),
                           take_rest, taking);
    if (!result)
        result = add_entries(taking);
    if (!result)
        result = put_all(taking);
    if (!result && again)
        stack_table_drop(&waits->stacks);
    return result;
}

int drain_wall(struct wall_report *report, struct waits *waits, bool again, struct tally *tally,
               struct drain_losses *losses)
{
    struct taking taking = {
        .of = {.waits = waits, .tally = tally, .losses = losses},
        .report = report,
        .is_last = !again,
    };

    bpf_begin_unpreempted();
    int result = collect(&taking, again);
    bpf_end_unpreempted();
    free(taking.rows);
    free(taking.threads);
    return result;
}
