/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "rings/ring_source.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/util.h"
#include "insns/layout.h"
#include "maps/callers.h"
#include "maps/store.h"

/*
 * How often rings are read if they do not fill up; and how long records of other CPUs are waited
 * for.
 */
#define READ_MS 100
#define READ_OFTEN_MS 5 /* if there are more than can be polled */
#define MOST_POLLED 256
#define SETTLES_NS 1000000
#define FIRST_OF_ALL (-20) /* a nice value, which is per thread */

/* ---- Opening ---- */

/* For the threads that were listed, with that result. */
static int open_for_tasks(struct ring_source *source, struct rings_wishes *wishes, int listed)
{
    wishes->tids = source->threads.tids;
    wishes->tid_count = source->threads.count;
    return listed ? listed : rings_open(&source->rings, wishes);
}

/*
 * A command's events are its own, as they are inherited. If they cannot be, they are found among all
 * tasks' by what its own tasks report: others' reports may be more than can be read. For others, thread events are only used
 * without the right to events of all, as threads come and go while their events are opened.
 */
static int open_rings(struct ring_source *source)
{
    const struct event_filter *filter = &source->wishes.scope->filter;
    const uint32_t command = source->wishes.scope->command;
    const bool of_all = source->wishes.of_all, of_command = command && !of_all;
    struct rings_wishes wishes = {
        /* Tasks migrate, and are forked on other CPUs. */
        .cpu = of_all || (of_command && source->wishes.uninherited) ? -1 : filter->cpu,
        .kernel = source->wishes.kernel,
        .user = source->wishes.user,
        .raw = source->wishes.raw,
        .cgroup = filter->cgroup,
        .bytes = source->wishes.bytes,
    };

    ring_unwind_ask(source->wishes.unwind, source->wishes.few, &wishes);
    wishes.from_exec = of_command && !source->wishes.uninherited;
    wishes.events_of_all = of_command && source->wishes.uninherited;
    if (of_command)
        return open_for_tasks(source, &wishes, ring_threads_add(&source->threads, command));
    int result = rings_open(&source->rings, &wishes);
    if ((result != -EACCES && result != -EPERM) || source->wishes.of_all || filter->cgroup ||
        !(filter->pid_count || filter->tid_count))
        return result;
    rings_close(&source->rings);
    wishes.alone = !filter->pid_count || source->wishes.uninherited;
    return open_for_tasks(source, &wishes, ring_threads_list(&source->threads, filter));
}

int ring_source_open(struct ring_source *source, ring_take_record *take, void *context, struct text *why)
{
    const uint32_t limit = (uint32_t)store_depth_limit();

    source->take = take;
    source->taking = context;
    source->depth = source->wishes.depth ? (uint32_t)source->wishes.depth : limit;
    pthread_mutex_init(&source->lock, NULL);
    source->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    source->is_open = true;
    int result = open_rings(source);
    source->wishes.unwind->stack_bytes = source->rings.wishes.stack_bytes;
    if (!result)
        result = ring_tasks_open(&source->tasks, source->wishes.scope);
    source->tasks.of_command = source->rings.wishes.events_of_all;
    if (result) {
        text_add(why, "cannot collect by perf's rings: ");
        ring_source_explain(source, result, why);
        return result;
    }
    /* Task events are recorded from before tasks are looked at. */
    source->tasks.held = source->wishes.scope->command;
    source->tasks.follows = source->wishes.scope->follows;
    ring_tasks_look(&source->tasks);
    return 0;
}

static void end_reader(struct ring_source *source)
{
    if (!source->has_reader)
        return;
    __atomic_store_n(&source->ends, true, __ATOMIC_RELAXED);
    (void)!write(source->bell, &(uint64_t){1}, sizeof(uint64_t));
    pthread_join(source->reader, NULL);
    source->has_reader = false;
}

void ring_source_detach(struct ring_source *source)
{
    end_reader(source);
    rings_close_events(&source->rings);
}

void ring_source_close(struct ring_source *source)
{
    end_reader(source);
    if (source->is_open) {
        pthread_mutex_destroy(&source->lock);
        close(source->bell);
    }
    rings_close(&source->rings);
    ring_tasks_close(&source->tasks);
    free(source->threads.tids);
    free(source->places);
    *source = (struct ring_source){.is_open = false};
}

int ring_source_add(struct ring_source *source, const struct rings_event *event, const struct ring_place *place)
{
    if (array_reserve(&source->places, &source->place_room, source->place_count + 1, sizeof(*source->places)))
        return -ENOMEM;
    source->places[source->place_count] = *place;
    return rings_add(&source->rings, event, (uint32_t)source->place_count++);
}

int ring_source_start(struct ring_source *source)
{
    return rings_start(&source->rings);
}

/* ---- Reading ---- */

static int take_record(void *context, const struct ring_record *record)
{
    struct ring_source *source = context;

    if (record->kind == RECORD_TASK)
        ring_tasks_take(&source->tasks, &record->task, record->time);
    else
        ring_tasks_see(&source->tasks, record->sample.pid, record->time);
    return source->take(source->taking, record);
}

static int read_until(struct ring_source *source, uint64_t until)
{
    ring_unwind_settle(source->wishes.unwind);
    ring_tasks_begin_round(&source->tasks);
    return rings_read(&source->rings.reading, until, take_record, source);
}

int ring_source_read_settled(struct ring_source *source)
{
    const uint64_t now = now_ns(), until = now > SETTLES_NS ? now - SETTLES_NS : 0;

    source->settled = until;
    rings_look(&source->rings);
    return read_until(source, until);
}

int ring_source_read(struct ring_source *source, bool for_good)
{
    const uint64_t now = now_ns();

    if (!for_good) {
        (void)poll(NULL, 0, 1);
        return read_until(source, now);
    }
    int result = rings_stop(&source->rings);
    if (!result)
        result = read_until(source, UINT64_MAX);
    rings_have_losses_told(&source->rings);
    source->settled = UINT64_MAX;
    if (!result)
        result = read_until(source, UINT64_MAX);
    rings_count_lost(&source->rings);
    return result;
}

/* Until a ring fills up, or this is to end. */
static void await_records(const struct ring_source *source)
{
    const struct ring_reading *reading = &source->rings.reading;
    struct pollfd polled[MOST_POLLED] = {{.fd = source->bell, .events = POLLIN}};
    nfds_t count = 1;

    for (size_t i = 0; i < reading->count && count < MOST_POLLED; i++)
        polled[count++] = (struct pollfd){.fd = reading->rings[i].ring.fd, .events = POLLIN};
    (void)poll(polled, count, reading->count >= MOST_POLLED ? READ_OFTEN_MS : READ_MS);
}

/*
 * At the highest priority, so that it keeps up with tasks that fill the rings, even on its own CPU;
 * if allowed.
 */
static void *keep_reading(void *context)
{
    struct ring_source *source = context;

    if (getpriority(PRIO_PROCESS, 0) <= 0) /* otherwise the user asked to be last */
        (void)setpriority(PRIO_PROCESS, 0, FIRST_OF_ALL);
    while (!__atomic_load_n(&source->ends, __ATOMIC_RELAXED)) {
        await_records(source);
        pthread_mutex_lock(&source->lock);
        if (!source->failure)
            source->failure = ring_source_read_settled(source);
        pthread_mutex_unlock(&source->lock);
    }
    return NULL;
}

int ring_source_begin_reading(struct ring_source *source)
{
    sigset_t all, before;

    if (source->has_reader)
        return source->failure;
    /* Signals are handled by the thread that waits for them. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    source->has_reader = !pthread_create(&source->reader, NULL, keep_reading, source);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (source->has_reader)
        return 0;
    /* Without a thread, read whenever asked. */
    source->failure = ring_source_read_settled(source);
    return source->failure;
}

/* ---- Whose it is ---- */

/* By task records, rather than by the kernel. */
static bool is_following(const struct ring_source *source)
{
    const struct scope *scope = source->wishes.scope;

    return scope->follows || (scope->command && !source->rings.wishes.from_exec);
}

/* Processes asked for by pid, or as a command, do not count as ours. */
static bool is_own(const struct scope *scope, uint32_t pid)
{
    const uint32_t *pids = scope->own.pids;

    if (!pids || scope->filter.pid_count || scope->filter.tid_count || scope->command)
        return false;
    for (size_t i = 0; i < OWN_PROCESSES; i++)
        if (__atomic_load_n(&pids[i], __ATOMIC_RELAXED) == pid)
            return true;
    return false;
}

/* In a container, all that is outside it has this number, too. */
static bool is_idle(const struct ring_source *source, const struct ring_sample *sample)
{
    return !sample->tid && !source->wishes.scope->filter.in_namespace;
}

bool ring_source_wants(struct ring_source *source, const struct ring_sample *sample)
{
    const struct scope *scope = source->wishes.scope;
    const struct event_filter *filter = &scope->filter;

    return ring_tasks_want(&source->tasks, sample->pid, sample->tid) && !is_own(scope, sample->pid) &&
           !(source->wishes.without_idle && is_idle(source, sample)) &&
           (filter->cpu < 0 || filter->cpu == sample->cpu) &&
           (!scope->command || source->rings.wishes.from_exec ||
            ring_tasks_follow(&source->tasks, sample->pid, sample->tid));
}

/* The caller, by its size: from 32-bit and 64-bit kernels. */
static uint64_t read_caller(const struct ring_place *place, const struct ring_sample *sample)
{
    uint64_t wide;
    uint32_t narrow;

    if (!place->caller_bytes || (size_t)place->caller + place->caller_bytes > sample->raw_size)
        return 0;
    if (place->caller_bytes == sizeof(narrow)) {
        memcpy(&narrow, sample->raw + place->caller, sizeof(narrow));
        return narrow & ~place->thumb;
    }
    memcpy(&wide, sample->raw + place->caller, sizeof(wide));
    return wide;
}

static struct ring_stack cut(const uint64_t *frames, size_t count, uint32_t depth)
{
    return (struct ring_stack){frames, count < depth ? count : depth};
}

/* By tables, or by frame pointers as the kernel did it. */
static void take_user_stack(const struct ring_source *source, const struct ring_record *record,
                            const struct ring_place *place, struct ring_party *party)
{
    struct ring_unwind *unwind = source->wishes.unwind;

    if (source->wishes.user && ring_unwind_walk(unwind, &record->sample, record->time, place->at_entry, &party->user))
        party->caller = place->flags & KEY_KERNEL_START ? party->caller : 0; /* it is there */
    else if (unwind->first_alone && party->user.count)
        party->user.count = 1;
}

void ring_source_party(struct ring_source *source, const struct ring_record *record, uint32_t number,
                       struct ring_party *party)
{
    const struct ring_sample *sample = &record->sample;
    static const struct ring_place nothing = {.flags = 0};
    const struct ring_place *place = number < source->place_count ? &source->places[number] : &nothing;
    const struct ring_task_state *task = ring_tasks_of(&source->tasks, sample->pid, sample->tid);

    *party = (struct ring_party){
        .kernel = cut(sample->kernel, sample->kernel_count, source->depth),
        .user = cut(sample->user, sample->user_count, source->depth),
        .caller = read_caller(place, sample),
        .flags = place->flags,
    };
    if (place->flags & KEY_TRACEPOINT && callers_count_twice(party->kernel.frames, party->kernel.count)) {
        party->kernel.frames++;
        party->kernel.count--;
    }
    take_user_stack(source, record, place, party);
    if (!source->wishes.per_process)
        return;
    party->who.pid = sample->pid;
    party->who.tid = source->wishes.per_thread ? sample->tid : 0;
    party->who.born = ring_tasks_process(&source->tasks, sample->pid)->born;
    if (sample->tid)
        memcpy(party->who.comm, task->comm, sizeof(task->comm));
    else if (is_idle(source, sample))
        snprintf(party->who.comm, sizeof(party->who.comm), "swapper/%u", sample->cpu);
    else
        strcpy(party->who.comm, "[outside]");
}

/* ---- What is reported about it ---- */

void ring_source_account(const struct ring_source *source, struct collector_account *account)
{
    const struct ring_reading *reading = &source->rings.reading;
    const uint64_t lost = rings_lost(&source->rings, RINGS_SAMPLES);

    *account = (struct collector_account){
        .seen = reading->samples - source->twice + lost,
        .filtered = source->filtered,
        .counted = source->counted,
        .lost = lost,
        .bytes = (uint64_t)source->rings.bytes * source->rings.cpu_count,
        .depth = source->depth,
    };
    account->unknown = (int64_t)(account->seen - account->filtered - account->counted - account->lost);
}

void ring_source_add_losses(const struct ring_source *source, struct missing *missing)
{
    const struct ring_reading *reading = &source->rings.reading;

    missing_add(missing, &(struct loss){.count = rings_lost(&source->rings, RINGS_SAMPLES), .beside = true},
                "were lost: they came faster than they were read and filled each CPU's ring of "
                "%zu KB; narrow the pattern or filters, or take smaller samples (-K, --unwind fp)",
                source->rings.bytes / 1024);
    missing_add(missing, &(struct loss){.count = source->rings.untold ? MISSING_UNCOUNTED : 0, .beside = true},
                "may have been lost last, on CPUs that this process may not run on: before Linux 6.0 the "
                "kernel does not report them elsewhere");
    missing_add(missing, &(struct loss){.count = rings_lost(&source->rings, RINGS_TASKS), .events = "task records"},
                "were lost: they came faster than they were read, and names may be wrong%s",
                is_following(source) ? ", and events of forked processes missing" : "");
    missing_add(missing, &(struct loss){.count = source->rings.came ? MISSING_UNCOUNTED : 0, .beside = true},
                "of CPUs that came online during the run are missing, for up to half a second "
                "each");
    missing_add(missing, &(struct loss){.count = source->rings.refused ? MISSING_UNCOUNTED : 0, .beside = true},
                "of a CPU that came online are missing: %s", strerror(-source->rings.refused));
    missing_add(missing, &(struct loss){.count = reading->broken ? MISSING_UNCOUNTED : 0, .events = "records",
                                        .beside = true},
                "from the kernel were malformed, and dropped with all that followed in the "
                "ring");
}

void ring_source_describe(const struct ring_source *source, struct text *lines)
{
    text_format(lines, "rings: %zu, of %zu KB each, events of %s%s\n", source->rings.cpu_count,
                source->rings.bytes / 1024, source->rings.wishes.tid_count && !source->rings.wishes.events_of_all ? "tasks" : "all",
                source->rings.user_part_alone ? ", in user mode only" : "");
}
