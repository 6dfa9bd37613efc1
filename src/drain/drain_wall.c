/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "drain/drain_wall.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "drain/drain_waits.h"
#include "kernel/bpf.h"

/* A part of a thread's time; below 0: that much was already reported. */
struct wall_row {
    struct party party;
    uint32_t part;   /* an enum wall_part; SAMPLES: divides its running time */
    int64_t time;
    uint64_t events;
};
#define SAMPLES WALL_PARTS

struct taking {
    struct waits_taking of;
    struct walling *walling;
    uint64_t spent, lived; /* of live threads */
    struct wall_row *rows;
    size_t count, room;
    bool has_strangers;
};

/* ---- The beginning ---- */

/* Threads first seen after this have been in their state since then. */
static int set_beginning(const struct waits *waits, uint64_t now)
{
    const uint32_t nobody = 0;
    const struct wall wall = {.since = now, .target.flags = PARTY_UNWANTED};

    return bpf_update(waits->map, &nobody, &wall, BPF_ANY);
}

int walling_start(struct walling *walling, const struct waits *waits)
{
    walling->ended = now_ns();
    return set_beginning(waits, walling->ended);
}

void walling_free(struct walling *walling)
{
    free(walling->open);
    walling->open = NULL;
    walling->open_count = walling->open_room = 0;
}

/* ---- Rows ---- */

static int add_row(struct taking *taking, const struct party *party, uint32_t part, uint64_t time,
                   uint64_t events)
{
    if (!time && !events)
        return 0;
    if (array_reserve(&taking->rows, &taking->room, taking->count + 1, sizeof(*taking->rows)))
        return -ENOMEM;
    struct wall_row *row = &taking->rows[taking->count++];
    *row = (struct wall_row){*party, part, (int64_t)time, events};
    row->party.flags &= KEY_FOREIGN;
    if (part < WALL_RUNNABLE)
        row->party.kernel_stack = row->party.user_stack = NO_STACK;
    return 0;
}

static int add_parts(struct taking *taking, const struct party *party, const uint64_t spent[WALL_PARTS],
                     uint64_t events)
{
    int result = 0;

    for (uint32_t part = 0; part < WALL_PARTS && !result; part++) {
        result = spent[part] ? add_row(taking, party, part, spent[part], events) : 0;
        events = spent[part] ? 0 : events;
    }
    return result;
}

static uint64_t sum_of(const uint64_t spent[WALL_PARTS])
{
    uint64_t sum = 0;

    for (uint32_t part = 0; part < WALL_PARTS; part++)
        sum += spent[part];
    return sum;
}

static int take_count(void *context, const void *key, const void *value)
{
    struct taking *taking = context;
    struct party party;
    struct walled walled;

    memcpy(&party, key, sizeof(party));
    memcpy(&walled, value, sizeof(walled));
    taking->of.waits->store->counted += walled.events;
    taking->walling->counted_spent += sum_of(walled.spent);
    taking->walling->counted_lived += walled.lived;
    return party.flags & PARTY_SAMPLE ? add_row(taking, &party, SAMPLES, 0, walled.events)
                                      : add_parts(taking, &party, walled.spent, walled.events);
}

/* ---- Unfinished states ---- */

static int add_open(struct taking *taking, const struct wall *wall, const struct party *target)
{
    uint64_t now = taking->of.now, spent[WALL_PARTS];
    struct party party = *target;

    memcpy(spent, wall->spent, sizeof(spent));
    if (wall->part < WALL_PARTS && wall->since < now)
        spent[wall->part] += now - wall->since;
    /* Unreported time of a running thread belongs to the time before it was known. */
    if (wall->part < WALL_RUNNABLE)
        party.kernel_stack = party.user_stack = NO_STACK;
    taking->spent += sum_of(spent);
    taking->lived += wall->first < now ? now - wall->first : 0;
    if (wall->since > now)
        taking->walling->doubt += now - taking->walling->began;
    return add_parts(taking, &party, spent, 0);
}

static int take_thread(void *context, const void *key, const void *value)
{
    struct taking *taking = context;
    struct stack_table *stacks = &taking->of.waits->stacks;
    struct wall wall;
    uint32_t tid;
    int result = 0;

    memcpy(&tid, key, sizeof(tid));
    memcpy(&wall, value, sizeof(wall));
    stack_table_keep(stacks, wall.target.kernel_stack);
    stack_table_keep(stacks, wall.target.user_stack);
    /* Its first event may have come after the report: until then it was in one state. */
    if (tid && wall.first < taking->of.now && !(wall.target.flags & KEY_FOREIGN))
        result = waits_note_seen(taking->of.waits, wall.tid ? wall.tid : tid);
    if (!wall.target.flags)
        taking->has_strangers = true;
    return result || !wall.target.flags || wall.target.flags & PARTY_UNWANTED
               ? result : add_open(taking, &wall, &wall.target);
}

static int meet_stranger(void *context, const struct asleep *thread)
{
    struct taking *taking = context;
    struct party party = {.kernel_stack = NO_STACK, .user_stack = NO_STACK, .pid = thread->pid,
                          .tid = thread->tid};
    struct wall wall;

    memcpy(party.comm, thread->comm, sizeof(party.comm));
    return bpf_lookup(taking->of.waits->map, &thread->tid, &wall) || wall.target.flags
               ? 0 : add_open(taking, &wall, &party);
}

static int take_open(struct taking *taking)
{
    struct walling *walling = taking->walling;
    struct waits *waits = taking->of.waits;

    for (size_t i = 0; i < walling->open_count; i++) {
        const struct wall_row *row = &walling->open[i];
        if (add_row(taking, &row->party, row->part, (uint64_t)-row->time, 0))
            return -ENOMEM;
    }
    size_t first = taking->count;
    waits->seen_count = 0;
    int result = bpf_list(waits->map, sizeof(uint32_t), waits_value_bytes(waits), take_thread, taking);
    waits->seen_count = sort_numbers(waits->seen, waits->seen_count);
    if (!result && taking->has_strangers && walling->strangers)
        result = asleep_list(walling->strangers, meet_stranger, taking);
    size_t count = taking->count - first;
    if (!result)
        result = array_reserve(&walling->open, &walling->open_room, count + 1, sizeof(*walling->open));
    if (result)
        return result;
    if (count)
        memcpy(walling->open, taking->rows + first, count * sizeof(*walling->open));
    walling->open_count = count;
    return 0;
}

/* ---- To the tally ---- */

static int compare_threads(const struct wall_row *a, const struct wall_row *b)
{
    if (a->party.pid != b->party.pid)
        return a->party.pid < b->party.pid ? -1 : 1;
    if (a->party.tid != b->party.tid)
        return a->party.tid < b->party.tid ? -1 : 1;
    return (int)a->party.flags - (int)b->party.flags;
}

/* A thread's rows are adjacent, and within them those of a part. */
static int compare(const void *one, const void *other)
{
    const struct wall_row *a = one, *b = other;
    int threads = compare_threads(a, b);

    if (threads || a->part != b->part)
        return threads ? threads : (int)a->part - (int)b->part;
    return memcmp(&a->party, &b->party, sizeof(a->party));
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
    return waits_take_party(&taking->of, &row->party, row->events, &entry->task);
}

/*
 * Off the CPU, in one part. What the last report had of it under another stack, or under a wait
 * that was too short to have one, is subtracted from whatever there is.
 */
static int put_off(const struct taking *taking, const struct wall_row *rows, size_t count,
                   enum tally_mark mark)
{
    int64_t debt = 0;
    int result = 0;

    for (size_t i = 0; i < count; i++)
        debt -= rows[i].time < 0 ? rows[i].time : 0;
    for (size_t i = 0; i < count && !result; i++) {
        int64_t paid = rows[i].time < 0 ? 0 : rows[i].time < debt ? rows[i].time : debt;
        debt -= paid;
        if (rows[i].time > paid)
            result = put(taking, &rows[i], (uint64_t)(rows[i].time - paid), mark);
    }
    return result;
}

/* Divides it by samples, so that the sum stays the same. */
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

/* For one thread: `runs` rows of running, and its samples. */
static int put_running(const struct taking *taking, const struct wall_row *rows, size_t runs,
                       const struct wall_row *of_samples, size_t count)
{
    int64_t plain = 0, sampled = 0;
    uint64_t samples = 0;

    for (size_t i = 0; i < runs; i++)
        *(rows[i].part == WALL_SAMPLED ? &sampled : &plain) += rows[i].time;
    for (size_t i = 0; i < count; i++)
        samples += of_samples[i].events;
    /* A stretch may only have been sampled after its last report. */
    if (plain < 0) {
        sampled += plain;
        plain = 0;
    }
    if (sampled < 0 || !samples) {
        plain += sampled;
        sampled = 0;
    }
    int result = plain > 0 ? put(taking, &rows[runs - 1], (uint64_t)plain, MARK_NOT_SAMPLED) : 0;
    return !result && sampled > 0
               ? put_sampled(taking, of_samples, count, (uint64_t)sampled, samples) : result;
}

static int put_thread(const struct taking *taking, const struct wall_row *rows, size_t count)
{
    size_t ends[SAMPLES + 1], at = 0;

    for (uint32_t part = 0; part <= SAMPLES; part++) {
        while (at < count && rows[at].part <= part)
            at++;
        ends[part] = at;
    }
    int result = put_running(taking, rows, ends[WALL_SAMPLED], rows + ends[WALL_BLOCKED],
                             count - ends[WALL_BLOCKED]);
    if (!result)
        result = put_off(taking, rows + ends[WALL_SAMPLED], ends[WALL_RUNNABLE] - ends[WALL_SAMPLED],
                         MARK_RUNNABLE);
    return result ? result
                  : put_off(taking, rows + ends[WALL_RUNNABLE],
                            ends[WALL_BLOCKED] - ends[WALL_RUNNABLE], MARK_BLOCKED);
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

/* Nothing is counted into the main bank from here on: this is the moment of the report. */
static int drain(void *context, struct bank *bank, bool again)
{
    struct taking *taking = context;
    struct store *store = taking->of.waits->store;
    int result = 0;

    if (bank == &store->main) {
        taking->of.now = now_ns();
        result = again ? set_beginning(taking->of.waits, taking->of.now) : 0;
    }
    if (!result)
        result = drain_stacks(store, bank, waits_take_stack, taking);
    bank->kept[BANK_SHALLOW] = bank->kept[BANK_DEEP] = 0;
    return result ? result
                  : bpf_drain(bank->maps[BANK_COUNTS], store->key_bytes, store->value_bytes,
                              take_count, taking);
}

static int collect(struct taking *taking, bool again)
{
    struct waits *waits = taking->of.waits;
    struct walling *walling = taking->walling;
    const struct account *sum = &waits->store->sum;
    uint64_t full = sum->table_full, full_ns = sum->table_full_ns;

    stack_table_begin(&waits->stacks);
    int result = store_drain_by(waits->store, again, drain, taking);
    if (result)
        return result;
    full_ns = sum->table_full_ns - full_ns;
    walling->counted_spent += full_ns;
    walling->began = walling->ended;
    walling->ended = taking->of.now;
    walling->doubt = 0;
    result = drain_uncounted(taking->of.tally, sum->table_full - full, full_ns);
    if (!result)
        result = take_open(taking);
    walling->spent = walling->counted_spent + taking->spent;
    walling->lived = walling->counted_lived + taking->lived;
    if (!result)
        result = put_all(taking);
    if (!result && again)
        stack_table_drop(&waits->stacks);
    return result;
}

int drain_wall(struct walling *walling, struct waits *waits, bool again, struct tally *tally,
               struct losses *losses)
{
    struct taking taking = {
        .of = {.waits = waits, .tally = tally, .losses = losses},
        .walling = walling,
    };

    bpf_begin_unpreempted();
    int result = collect(&taking, again);
    bpf_end_unpreempted();
    free(taking.rows);
    return result;
}
