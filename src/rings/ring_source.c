/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "attach/attach_work.h"
#include "base/util.h"
#include "insns/layout.h"
#include "kernel/perf.h"
#include "machine/machine.h"
#include "rings/ring_source.h"
#include "store/store.h"

/*
 * How often the reader thread reads rings that do not fill up; and for how long records of other
 * CPUs may be late.
 */
#define READ_MS 100
#define READ_OFTEN_MS 5 /* if there are more rings than it polls */
#define MOST_POLLED 256
#define SETTLES_NS 1000000

/* ---- Opening ---- */

/* Opens rings for source->threads, unless listing them failed with `listed`. */
static int open_for_tasks(struct ring_source *source, struct rings_config *config, int listed)
{
    config->tids = source->threads.tids;
    config->tid_count = source->threads.count;
    return listed ? listed : rings_open(&source->rings, config);
}

/*
 * A command's tasks inherit its events. Where they cannot, the reader picks their samples from all
 * tasks' by task records, which are the command's alone: those of all tasks may be too many to
 * read. Without a command, events are opened by thread only if the kernel refuses events of all
 * tasks, as threads come and go meanwhile.
 */
static int open_rings(struct ring_source *source)
{
    const struct event_filter *filter = &source->options.scope->filter;
    const uint32_t command = source->options.scope->command;
    const bool of_all = source->options.of_all, of_command = command && !of_all;
    struct rings_config config = {
        /* Tasks migrate, and are forked on other CPUs. */
        .cpu = of_all || (of_command && source->options.uninherited) ? -1 : filter->cpu,
        .kernel = source->options.capture.kernel_stack,
        .user = source->options.capture.user_stack,
        .raw = source->options.raw,
        .cgroup = filter->cgroup,
        .bytes = source->options.bytes,
    };

    ring_unwind_ask(source->options.unwind, source->options.few, &config);
    config.from_exec = of_command && !source->options.uninherited;
    config.events_of_all = of_command && source->options.uninherited;
    if (of_command)
        return open_for_tasks(source, &config, ring_threads_add(&source->threads, command));
    int result = rings_open(&source->rings, &config);
    if ((result != -EACCES && result != -EPERM) || source->options.of_all || filter->cgroup ||
        !(filter->pid_count || filter->tid_count))
        return result;
    rings_close(&source->rings);
    config.alone = !filter->pid_count || source->options.uninherited;
    return open_for_tasks(source, &config, ring_threads_list(&source->threads, filter));
}

int ring_source_open(struct ring_source *source, ring_take_record *take, void *context,
                     struct text *why)
{
    const uint32_t limit = (uint32_t)store_depth_limit();

    source->take = take;
    source->taking = context;
    source->depth = source->options.capture.depth ? source->options.capture.depth : limit;
    pthread_mutex_init(&source->lock, NULL);
    source->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    source->is_open = true;
    int result = open_rings(source);
    source->options.unwind->stack_bytes = source->rings.config.stack_bytes;
    if (!result)
        result = ring_tasks_open(&source->tasks, source->options.scope);
    source->tasks.of_command = source->rings.config.events_of_all;
    if (result) {
        text_add(why, "cannot collect by perf's rings: ");
        ring_source_explain(source, result, why);
        return result;
    }
    /* The kernel records task events by now, so none is missed while /proc is read. */
    source->tasks.held = source->options.scope->command;
    source->tasks.follows = source->options.scope->follows;
    ring_tasks_look(&source->tasks);
    return 0;
}

static void end_reader(struct ring_source *source)
{
    if (!source->has_reader)
        return;
    thread_end(source->reader, &source->ends, source->bell);
    source->has_reader = false;
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

int ring_source_add(struct ring_source *source, const struct rings_event *event,
                    const struct ring_place *place)
{
    if (ARRAY_RESERVE(source->places, source->place_room, source->place_count + 1))
        return -ENOMEM;
    source->places[source->place_count] = *place;
    return rings_add(&source->rings, event, (uint32_t)source->place_count++);
}

int ring_source_start(struct collector *collector)
{
    return rings_start(&((struct ring_source *)collector)->rings);
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
    ring_unwind_settle(source->options.unwind);
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

/* Waits until a ring fills up, the bell rings, or it is time to read. */
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
 * The reader thread runs at the highest priority, if allowed, to keep up with tasks that fill the
 * rings, even on its own CPU.
 */
static void *keep_reading(void *context)
{
    struct ring_source *source = context;

    come_before_others();
    while (!__atomic_load_n(&source->ends, __ATOMIC_RELAXED)) {
        await_records(source);
        pthread_mutex_lock(&source->lock);
        if (!source->failure)
            source->failure = ring_source_read_settled(source);
        pthread_mutex_unlock(&source->lock);
    }
    return NULL;
}

int ring_source_settle(struct collector *collector)
{
    struct ring_source *source = (struct ring_source *)collector;

    if (source->has_reader)
        return source->failure;
    source->has_reader = !thread_begin(&source->reader, keep_reading, source);
    if (source->has_reader)
        return 0;
    /* Without a thread, each call reads. */
    source->failure = ring_source_read_settled(source);
    return source->failure;
}

/* ---- Whose it is ---- */

/* Do task records tell which tasks are followed? Otherwise the kernel lets them inherit events. */
static bool is_following(const struct ring_source *source)
{
    const struct scope *scope = source->options.scope;

    return scope->follows || (scope->command && !source->rings.config.from_exec);
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

/* In a PID namespace, tasks outside it have tid 0, too. */
static bool is_idle(const struct ring_source *source, const struct ring_sample *sample)
{
    return !sample->tid && !source->options.scope->filter.in_namespace;
}

bool ring_source_wants(struct ring_source *source, const struct ring_sample *sample)
{
    const struct scope *scope = source->options.scope;
    const struct event_filter *filter = &scope->filter;

    return ring_tasks_want(&source->tasks, sample->pid, sample->tid) &&
        !is_own(scope, sample->pid) &&
           !(source->options.capture.without_idle && is_idle(source, sample)) &&
           (filter->cpu < 0 || filter->cpu == sample->cpu) &&
           (!scope->command || source->rings.config.from_exec ||
            ring_tasks_follow(&source->tasks, sample->pid, sample->tid));
}

/* The return address: 32-bit and 64-bit kernels record it in different sizes. */
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

/* Walks by unwind tables; if that is impossible, the kernel's walk by frame pointers stays. */
static void take_user_stack(const struct ring_source *source, const struct ring_record *record,
                            const struct ring_place *place, struct counted_task *task)
{
    struct ring_unwind *unwind = source->options.unwind;

    if (source->options.capture.user_stack &&
        ring_unwind_walk(unwind, &record->sample, record->time, place->at_entry, &task->user))
        task->caller = place->flags & KEY_KERNEL_START ? task->caller : 0; /* the walk has it */
    else if (unwind->first_alone && task->user.count)
        task->user.count = 1;
}

void ring_source_task(struct ring_source *source, const struct ring_record *record,
                      uint32_t number, struct counted_task *counted)
{
    const struct ring_sample *sample = &record->sample;
    static const struct ring_place nothing = {.flags = 0};
    const struct ring_place *place = number < source->place_count ? &source->places[number]
        : &nothing;
    const struct ring_task_state *task = ring_tasks_of(&source->tasks, sample->pid, sample->tid);

    *counted = (struct counted_task){
        .kernel = cut(sample->kernel, sample->kernel_count, source->depth),
        .user = cut(sample->user, sample->user_count, source->depth),
        .caller = read_caller(place, sample),
        .flags = place->flags,
    };
    if (place->flags & KEY_TRACEPOINT &&
        callers_count_twice(counted->kernel.frames, counted->kernel.count)) {
        counted->kernel.frames++;
        counted->kernel.count--;
    }
    take_user_stack(source, record, place, counted);
    if (!source->options.capture.per_process)
        return;
    counted->who.pid = sample->pid;
    counted->who.tid = source->options.capture.per_thread ? sample->tid : 0;
    counted->who.generation = ring_tasks_process(&source->tasks, sample->pid)->generation;
    if (sample->tid)
        memcpy(counted->who.comm, task->comm, sizeof(task->comm));
    else if (is_idle(source, sample))
        snprintf(counted->who.comm, sizeof(counted->who.comm), "swapper/%u", sample->cpu);
    else
        strcpy(counted->who.comm, "[outside]");
}

/* ---- What is reported about it ---- */

void ring_source_add_up(const struct ring_source *source, struct collector_account *account)
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
    account->unknown =
        (int64_t)(account->seen - account->filtered - account->counted - account->lost);
}

void ring_source_account(struct collector *collector, struct collector_account *account)
{
    struct ring_source *source = (struct ring_source *)collector;

    pthread_mutex_lock(&source->lock);
    ring_source_add_up(source, account);
    pthread_mutex_unlock(&source->lock);
}

void ring_source_add_losses(const struct collector *collector, struct losses *losses)
{
    const struct ring_source *source = (const struct ring_source *)collector;
    const struct ring_reading *reading = &source->rings.reading;

    losses_add(losses, &(struct loss){.count = rings_lost(&source->rings, RINGS_SAMPLES),
                                      .beside = true},
                "were lost: they came faster than they were read and filled each CPU's ring of "
                "%zu KB; narrow the pattern or filters, or take smaller samples (-K, --unwind fp)",
                source->rings.bytes / 1024);
    losses_add(losses, &(struct loss){.count = source->rings.untold ? LOSSES_UNCOUNTED : 0,
                                      .beside = true},
                "may have been lost last, on CPUs that this process may not run on: before Linux "
                "6.0 the kernel does not report them elsewhere");
    losses_add(losses, &(struct loss){.count = rings_lost(&source->rings, RINGS_TASKS),
                                      .events = "task records"},
                "were lost: they came faster than they were read, and names may be wrong%s",
                is_following(source) ? ", and events of forked processes missing" : "");
    losses_add(losses, &(struct loss){.count = source->rings.came ? LOSSES_UNCOUNTED : 0,
                                      .beside = true},
                "of CPUs that came online during the run are missing, for up to half a second "
                "each");
    losses_add(losses, &(struct loss){.count = source->rings.refused ? LOSSES_UNCOUNTED : 0,
                                      .beside = true},
                "of a CPU that came online are missing: %s", strerror(-source->rings.refused));
    losses_add(losses, &(struct loss){.count = reading->broken ? LOSSES_UNCOUNTED : 0,
                                      .events = "records",
                                      .beside = true},
                "from the kernel were malformed, and dropped with all that followed in the "
                "ring");
}

void ring_source_describe(const struct collector *collector, bool again, struct text *lines)
{
    const struct ring_source *source = (const struct ring_source *)collector;

    (void)again;
    text_format(lines, "rings: %zu, of %zu KB each, events of %s%s\n", source->rings.cpu_count,
                source->rings.bytes / 1024,
                    source->rings.config.tid_count && !source->rings.config.events_of_all ? "tasks"
                    : "all",
                source->rings.user_part_alone ? ", in user mode only" : "");
}

/*
 * Each place has its own event: before 5.4, defining a probe with the name of another silently
 * replaces it. A text probe can fetch the caller as an argument, which the kernel's own walk leaves
 * out at a function's first instruction.
 */

struct attaching {
    struct ring_source *source;
    struct attachment *attachment;
    const struct attach_request *request;
    const struct place *place;
    size_t number;
};

static const struct tracefs_field nowhere = {.size = 0};

static bool at_kernel_start(const struct place *place)
{
    return place->kind == PLACE_KERNEL_FUNCTION && !place->at_return && !place->offset;
}

static const char *caller_of(const struct place *place)
{
    const struct machine *kernel = machine_of_kernel();
    const bool wanted = at_kernel_start(place) ||
                        (attach_variants[attach_program_of(place)].caller && !kernel->link_first);

    return wanted ? kernel->caller_text : NULL;
}

static int add(const struct attaching *at, const struct rings_event *event,
               const struct tracefs_field *caller)
{
    struct ring_place about = {
        .place = (uint32_t)at->number,
        .flags = attach_variants[attach_program_of(at->place)].flags,
        .caller = caller->offset,
        .caller_bytes = caller->size,
        .thumb = machine_of_kernel()->marks.thumb != 0,
        .at_entry = attach_variants[attach_program_of(at->place)].caller,
    };

    if (at_kernel_start(at->place) && caller->size)
        about.flags |= KEY_KERNEL_START;
    return ring_source_add(at->source, event, &about);
}

static int define(const struct attaching *at, const char *caller, uint32_t *id)
{
    struct place place = *at->place, *one = &place;

    place.error = 0;
    int result = attach_text_define(at->request->tracefs, &at->attachment->maker, &one, 1, caller,
                                    id);
    return place.error ? place.error : result;
}

static int attach_by_text(const struct attaching *at)
{
    const char *caller = caller_of(at->place);
    struct tracefs_field field = nowhere;
    uint32_t id;

    at->attachment->tracefs = at->request->tracefs;
    int result = define(at, caller, &id);
    if (result == -EINVAL && caller)
        result = define(at, caller = NULL, &id);
    if (!result && caller)
        result = attach_text_find_caller(at->request->tracefs, &at->attachment->maker, &field);
    const struct rings_event event = {.type = PERF_TYPE_TRACEPOINT, .config = id};
    return result ? result : add(at, &event, &field);
}

static int attach_at(const struct attaching *at, const struct perf_probe_type *type,
                     uint64_t offset)
{
    const struct place *place = at->place;
    const bool user = place->kind == PLACE_USER, by_address = !user && place->address;
    const struct rings_event event = {
        .type = type->type,
        .config = (place->at_return ? type->return_bit : 0) | (user ? place->semaphore << 32 : 0),
        .config1 = user ? (uint64_t)(uintptr_t)place->file : by_address ? 0
            : (uint64_t)(uintptr_t)place->name,
        .config2 = user ? place->file_offset : (by_address ? place->address : 0) + offset,
    };

    return user && place->semaphore > UINT32_MAX ? -EOVERFLOW : add(at, &event, &nowhere);
}

static const char *pmu_of(enum place_kind kind)
{
    return kind == PLACE_USER ? "uprobe" : "kprobe";
}

static int attach_by_pmu(const struct attaching *at)
{
    const uint64_t later = place_later(at->place);
    struct perf_probe_type type;
    int result = perf_probe_type(pmu_of(at->place->kind), &type);

    if (!result)
        result = attach_at(at, &type, place_first(at->place));
    return result == -EINVAL && later ? attach_at(at, &type, later) : result;
}

static bool is_by_pmu(const struct attach_request *request)
{
    return request->way == ATTACH_PMU || request->tracefs < 0;
}

static int attach_place(void *context, struct attachment *attachment,
                        const struct attach_request *request, const struct place *place,
                        size_t number)
{
    const struct attaching at = {context, attachment, request, place, number};
    const bool user = place->kind == PLACE_USER;

    if (place->kind == PLACE_TRACEPOINT)
        return add(&at, &(struct rings_event){.type = PERF_TYPE_TRACEPOINT, .config = place->id},
                   &nowhere);
    *(user ? &attachment->user_way : &attachment->kernel_way) = is_by_pmu(request) ? ATTACH_PMU
        : ATTACH_TRACEFS;
    return is_by_pmu(request) ? attach_by_pmu(&at) : attach_by_text(&at);
}

static int prepare(void *context, const struct attach_request *request, enum place_kind kind,
                   size_t count)
{
    const struct ring_source *source = context;
    struct perf_probe_type type;

    attach_allow_descriptors(rings_descriptors(&source->rings, count));
    if (kind == PLACE_TRACEPOINT)
        return 0;
    if (is_by_pmu(request))
        return perf_probe_type(pmu_of(kind), &type) ? -EOPNOTSUPP : 0;
    attach_text_sweep(request->tracefs);
    return faccessat(request->tracefs, kind == PLACE_USER ? "uprobe_events" : "kprobe_events", W_OK,
                     0)
               ? errno == ENOENT ? -EOPNOTSUPP : -errno : 0;
}

static void detach(void *context)
{
    struct ring_source *source = context;

    end_reader(source);
    rings_close_events(&source->rings);
}

static void explain(const void *context, int error, struct text *sentence)
{
    ring_source_explain(context, error, sentence);
}

const struct attach_instead ring_attach = {prepare, attach_place, detach, explain};
