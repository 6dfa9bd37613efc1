/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/attach.h"
#include "base/util.h"
#include "machine/machine.h"
#include "processes/proc_maps.h"
#include "ptrace/ptrace_source.h"

#define STOPS_PER_LOOK 16
#define FAR_HITS 16 /* after so many on another CPU the tracer moves there */

/* ---- Where places are in a process ---- */

/* Some file systems (overlays) have other numbers in /proc/PID/maps than in stat(2). */
static bool is_mapped(const struct place *place, const struct maps_entry *entry, uint32_t pid)
{
    char path[4096 + 64];
    struct stat about;

    if (entry->inode == place->inode && entry->device == place->device)
        return true;
    if (!entry->inode || strcmp(base_name(entry->path), base_name(place->path)))
        return false;
    snprintf(path, sizeof(path), "/proc/%u/root%s", pid, entry->path);
    return !stat(path, &about) && about.st_ino == place->inode && about.st_dev == place->device;
}

struct search {
    const struct ptrace_hits *hits;
    uint32_t pid;
    uint64_t addresses[BREAKPOINTS_MOST];
};

static int take_mapping(void *context, const struct maps_entry *entry)
{
    struct search *search = context;

    for (size_t i = 0; i < search->hits->count; i++) {
        const struct place *place = search->hits->points[i].place;
        const uint64_t within = place->file_offset - entry->offset;
        if (entry->executable && within < entry->end - entry->start &&
            is_mapped(place, entry, search->pid))
            search->addresses[i] = entry->start + within;
    }
    return 0;
}

/* A program is mapped when it is executed; a library may be at any system call. */
static bool lacks_library(const struct search *search)
{
    for (size_t i = 0; i < search->hits->count; i++)
        if (!search->addresses[i] && search->hits->points[i].in_library)
            return true;
    return false;
}

/* Finds the places' addresses, for all threads of the process. */
static void find_points(struct ptrace_hits *hits, struct tracee *of)
{
    const struct tracees *tracees = &hits->source.tracer.tracees;
    struct search search = {.hits = hits, .pid = of->pid};
    const size_t size = hits->count * sizeof(*search.addresses);
    const uint64_t shape = tracee_shape(of);
    uint32_t shown_by;

    (void)maps_each_of(of->pid, &shown_by, take_mapping, &search);
    const bool calls_stop = hits->call_count || lacks_library(&search);
    for (size_t i = 0; i < tracees->count; i++) {
        struct tracee *tracee = &tracees->items[i];
        if (tracee->pid != of->pid)
            continue;
        if (memcmp(tracee->points.addresses, search.addresses, size))
            tracee->points.are_set = false;
        memcpy(tracee->points.addresses, search.addresses, size);
        tracee->points.shape = shape;
        tracee->points.calls_stop = calls_stop;
    }
}

/* ---- Setting breakpoints ---- */

/* The thread has stopped. */
static void arm(struct ptrace_hits *hits, struct tracee *tracee)
{
    const int result = hits->count ? tracer_arm(&hits->source.tracer, tracee, true) : 0;

    tracee->points.are_set = true;
    if (result && result != -ESRCH)
        hits->source.failure = result;
}

/* The last breakpoint is at the return address of the innermost call that has not returned. */
static void set_return(const struct ptrace_hits *hits, struct tracee *tracee)
{
    const size_t depth = tracee->points.depth;

    tracee->points.addresses[hits->source.options.breakpoints - 1] =
        depth ? tracee->points.returns[depth - 1].pc : 0;
}

static void arm_anew(struct ptrace_hits *hits, struct tracee *tracee)
{
    tracee->points.are_set = false; /* the kernel has cleared them */
    tracee->points.depth = 0;
    if (hits->has_returns)
        set_return(hits, tracee);
    find_points(hits, tracee);
    arm(hits, tracee);
}

/* Before the first tick, the places are not known yet. */
static bool has_begun(const struct ptrace_hits *hits)
{
    return hits->source.ticks;
}

static void execs(void *context, struct tracee *tracee)
{
    struct ptrace_hits *hits = context;

    tracee->points.steps = false;
    tracee->points.pc = 0;
    if (has_begun(hits))
        arm_anew(hits, tracee);
}

static const struct tracee *find_sibling(const struct tracees *tracees, const struct tracee *tracee)
{
    for (size_t i = 0; i < tracees->count; i++)
        if (tracees->items[i].pid == tracee->pid && tracees->items[i].points.shape)
            return &tracees->items[i];
    return NULL;
}

static void begins(void *context, struct tracee *tracee)
{
    struct ptrace_hits *hits = context;
    const struct tracee *sibling = find_sibling(&hits->source.tracer.tracees, tracee);

    if (!tracee->counts || !has_begun(hits))
        return;
    if (!sibling) {
        arm_anew(hits, tracee);
        return;
    }
    memcpy(tracee->points.addresses, sibling->points.addresses, sizeof(sibling->points.addresses));
    tracee->points.shape = sibling->points.shape;
    tracee->points.calls_stop = sibling->points.calls_stop;
    if (hits->has_returns)
        set_return(hits, tracee);
    arm(hits, tracee);
}

static void stopped(void *context, struct tracee *tracee)
{
    struct ptrace_hits *hits = context;

    hits->is_hit = false;
    if (tracee->counts && !tracee->points.steps)
        arm(hits, tracee);
}

/* Asks threads without their breakpoints to stop, so that the tracer can set them. Is there one? */
static bool ask_others(struct ptrace_hits *hits)
{
    const struct tracees *tracees = &hits->source.tracer.tracees;
    bool any = false;

    for (size_t i = 0; i < tracees->count; i++) {
        struct tracee *tracee = &tracees->items[i];
        if (!tracee->counts || !tracee->has_begun || tracee->points.are_set)
            continue;
        any = true;
        if (!tracee->is_asked)
            tracer_ask(tracee);
    }
    return any;
}

/* A system call may have mapped code with places. */
static void look_again(struct ptrace_hits *hits, struct tracee *tracee)
{
    if (!hits->count || tracee_shape(tracee) == tracee->points.shape)
        return;
    find_points(hits, tracee);
    if (!tracee->points.are_set)
        arm(hits, tracee);
    (void)ask_others(hits);
}

static void tick(void *context)
{
    struct ptrace_hits *hits = context;
    const struct tracees *tracees = &hits->source.tracer.tracees;

    hits->source.ticks++;
    for (size_t i = 0; i < tracees->count; i++) {
        struct tracee *tracee = &tracees->items[i];
        if (tracee->counts && tracee->has_begun &&
            (!tracee->points.shape ||
             (tracee->tid == tracee->pid && tracee_shape(tracee) != tracee->points.shape)))
            find_points(hits, tracee);
    }
    const bool any = ask_others(hits);
    __atomic_store_n(&hits->is_ready, !any, __ATOMIC_RELEASE);
}

static bool is_ready(const void *context)
{
    const struct ptrace_hits *hits = context;

    return __atomic_load_n(&hits->is_ready, __ATOMIC_ACQUIRE);
}

static void ends(void *context, struct tracee *tracee)
{
    (void)context;
    tracee->counts = false;
}

/* ---- Hits ---- */

/* A signal that comes before the step is done makes the thread hit the same call again. */
static bool is_new(struct tracee *tracee, uint64_t pc, uint64_t sp)
{
    const bool is_same = tracee->points.pc == pc && tracee->points.sp == sp;

    tracee->points.pc = breakpoints_repeat() ? pc : 0;
    tracee->points.sp = sp;
    return !is_same;
}

static void begin_step(struct ptrace_hits *hits, struct tracee *tracee)
{
    tracee->points.steps = true;
    (void)tracer_arm(&hits->source.tracer, tracee, false);
}

static void end_step(struct ptrace_hits *hits, struct tracee *tracee, enum breakpoint_stop stop)
{
    tracee->points.steps = false;
    if (stop == BREAKPOINT_STEPPED)
        tracee->points.pc = 0;
    arm(hits, tracee);
}

/*
 * The tracer wakes up faster on the CPU where the thread stopped than on another CPU, which must
 * itself wake up first.
 */
static void stay_near(struct ptrace_hits *hits)
{
    cpu_set_t one;

    if (sched_getcpu() == (int)hits->cpu)
        hits->far = 0;
    else if (hits->cpu < CPU_SETSIZE && ++hits->far == FAR_HITS) {
        CPU_ZERO(&one);
        CPU_SET(hits->cpu, &one);
        (void)sched_setaffinity(0, sizeof(one), &one);
        hits->far = 0;
    }
}

/* The stopped thread's values are among `words`. */
static void take_hit(struct ptrace_hits *hits, struct tracee *tracee,
                     const struct ptrace_point *point, const uint64_t *words)
{
    struct ptrace_source *source = &hits->source;
    const struct event_values *values = point->values;
    struct unwind_state *state = source->state;

    (void)tracee_state(tracee, &hits->cpu);
    stay_near(hits);
    if (!ptrace_source_wants(source, tracee, hits->cpu) ||
        !event_condition_holds(&values->condition, words, tracee->comm)) {
        ptrace_source_leave_out(source, hits->times);
        return;
    }
    hits->is_hit = true;
    hits->hit = point;
    for (size_t i = 0; i < values->count; i++)
        hits->numbers[i] = event_value_read(&values->values[i], words);
    state->at_entry = state->sp && point->at_entry;
    pthread_mutex_lock(&source->lock);
    hits->hit_at = now_ns();
    pthread_mutex_unlock(&source->lock);
}

/*
 * A call that was left without returning, as by longjmp(3), is below the new one on the stack. With
 * the same return address in the same place, another function made a tail call here: both return.
 */
static bool is_left(const struct tracee_return *last, const struct tracee_return *call)
{
    return last->sp < call->sp ||
           (last->sp == call->sp && (last->pc != call->pc || last->point == call->point));
}

static void take_call(struct ptrace_hits *hits, struct tracee *tracee, size_t point)
{
    const struct unwind_state *state = hits->source.state;
    const bool is_pushed = hits->source.machine->link.word == MACHINE_NOWHERE;
    const struct tracee_return call = {
        .pc = ptrace_source_caller(&hits->source),
        .sp = state->sp + (is_pushed ? sizeof(uint64_t) : 0),
        .point = point,
    };

    while (tracee->points.depth &&
           is_left(&tracee->points.returns[tracee->points.depth - 1], &call))
        tracee->points.depth--;
    if (ARRAY_RESERVE(tracee->points.returns, tracee->points.room, tracee->points.depth + 1)) {
        hits->source.failure = -ENOMEM;
        return;
    }
    tracee->points.returns[tracee->points.depth++] = call;
}

static void take_return(struct ptrace_hits *hits, struct tracee *tracee)
{
    const struct unwind_state *state = hits->source.state;
    size_t point = 0;

    hits->times = 0;
    while (tracee->points.depth) {
        const struct tracee_return *last = &tracee->points.returns[tracee->points.depth - 1];
        if (last->sp > state->sp)
            break;
        hits->times += last->pc == state->pc;
        point = last->point;
        tracee->points.depth--;
    }
    if (hits->times)
        take_hit(hits, tracee, &hits->points[point], state->registers);
}

/* At one address, a call may return and another one begin. */
static void take_stop(struct ptrace_hits *hits, struct tracee *tracee)
{
    const uint64_t pc = hits->source.state->pc;
    const uint64_t *addresses = tracee->points.addresses;

    if (hits->has_returns && pc == addresses[hits->source.options.breakpoints - 1])
        take_return(hits, tracee);
    for (size_t i = 0; i < hits->count; i++) {
        if (pc != addresses[i])
            continue;
        if (hits->points[i].place->at_return) {
            take_call(hits, tracee, i);
        } else {
            hits->times = 1;
            take_hit(hits, tracee, &hits->points[i], hits->source.state->registers);
        }
    }
}

static bool hit(void *context, struct tracee *tracee, enum breakpoint_stop stop)
{
    struct ptrace_hits *hits = context;
    struct unwind_state *state = hits->source.state;

    hits->is_hit = false;
    if (stop != BREAKPOINT_HIT) {
        end_step(hits, tracee, stop);
        return false;
    }
    ptrace_source_take(&hits->source, tracee);
    if (!state->pc)
        state->pc = ptrace_source_narrow_pc(&hits->source, tracee);
    if (is_new(tracee, state->pc, state->sp))
        take_stop(hits, tracee);
    if (hits->has_returns)
        set_return(hits, tracee);
    if (breakpoints_repeat())
        begin_step(hits, tracee); /* end_step() sets them again */
    else if (hits->has_returns)
        arm(hits, tracee);
    return hits->is_hit;
}

/* ---- System calls ---- */

/* As PTRACE_GET_SYSCALL_INFO tells it: struct ptrace_syscall_info, which not every libc has. */
struct call_info {
    uint8_t side; /* CALL_ENDS, or it begins */
    uint32_t audit;
    uint64_t pc, sp;
    union {
        struct {
            uint64_t number, args[6];
        } begin;
        uint64_t result; /* and a byte: is it an error? */
    };
};
#define GET_CALL_INFO 0x420e
#define CALL_ENDS 2 /* PTRACE_SYSCALL_INFO_EXIT */

static const struct ptrace_point *find_call(const struct ptrace_hits *hits, uint64_t id)
{
    for (size_t i = 0; i < hits->call_count; i++)
        if (hits->calls[i].place->id == id)
            return &hits->calls[i];
    return NULL;
}

/* What comes to that place may be as large, and so leave the memory's shape as it was. */
static void forget_mappings(struct ptrace_hits *hits, const struct tracee *of)
{
    const struct tracees *tracees = &hits->source.tracer.tracees;

    for (size_t i = 0; i < tracees->count; i++)
        if (tracees->items[i].pid == of->pid)
            tracees->items[i].looked = 0;
}

/* Programs of another ABI have other numbers; tracepoints, too, leave their calls out. */
static void take_call_stop(struct ptrace_hits *hits, struct tracee *tracee)
{
    struct call_info info;

    if (ptrace(GET_CALL_INFO, (pid_t)tracee->tid, sizeof(info), &info) < 0 ||
        info.audit != machine_audit(machine_ours()))
        return;
    const bool ends = info.side == CALL_ENDS;
    const uint64_t number = ends ? tracee->points.call : info.begin.number;
    const struct ptrace_point *point = find_call(hits, PLACE_CALL_ID(number, ends));
    tracee->points.call = ends ? NO_CALL : number;
    if (ends && number == SYS_munmap)
        forget_mappings(hits, tracee);
    if (!point)
        return;
    ptrace_source_take(&hits->source, tracee);
    hits->times = 1;
    take_hit(hits, tracee, point, ends ? &info.result : info.begin.args);
}

static bool called(void *context, struct tracee *tracee)
{
    struct ptrace_hits *hits = context;

    look_again(hits, tracee);
    hits->is_hit = false;
    if (hits->call_count)
        take_call_stop(hits, tracee);
    /* At other calls the tracer reads the thread's CPU only sometimes, as that takes time. */
    if (!hits->is_hit && !(++hits->stops % STOPS_PER_LOOK)) {
        (void)tracee_state(tracee, &hits->cpu);
        stay_near(hits);
    }
    return hits->is_hit;
}

static size_t make_record(struct ptrace_hits *hits, const struct tracee *tracee,
                          const struct ring_stack *user)
{
    struct snoop_record *record = hits->record;
    const size_t values = hits->hit->values->count;
    struct tally_task who = {.pid = 0};

    ptrace_source_task(&hits->source, tracee, &who);
    *record = (struct snoop_record){
        .time = hits->hit_at,
        .generation = who.generation,
        .pid = tracee->pid,
        .tid = tracee->tid,
        .cpu = hits->cpu,
        .place = (uint32_t)hits->hit->number,
        .walker = tracee->tid,
        .user_bytes = (int32_t)(user->count * sizeof(*user->frames)),
    };
    memcpy(record->comm, tracee->comm, sizeof(record->comm));
    if (user->count)
        memcpy(record->frames, user->frames, (size_t)record->user_bytes);
    memcpy(record->frames + user->count, hits->numbers, values * sizeof(*hits->numbers));
    return offsetof(struct snoop_record, frames[user->count + values]);
}

/* The caller holds the lock. */
static void put_in_queue(struct ptrace_hits *hits, size_t size)
{
    if (hits->queue.failed || hits->queue.length + sizeof(size) + size > hits->queue_bytes) {
        hits->lost++;
        return;
    }
    text_append(&hits->queue, (const char *)&size, sizeof(size));
    text_append(&hits->queue, (const char *)hits->record, size);
    hits->source.counted++;
    (void)!write(hits->bell, &(uint64_t){1}, sizeof(uint64_t));
}

/* What a hit adds to its count. */
static uint64_t take_value(struct ptrace_hits *hits)
{
    const struct event_values *values = hits->hit->values;
    const uint64_t value = values->count ? hits->numbers[0] : 1;

    if (values->count && values->values[0].is_signed && (int64_t)value < 0) {
        hits->negative += hits->times;
        return 0;
    }
    hits->wraps += hits->sum + value < value;
    hits->sum += value;
    return value;
}

/* Walks the stack while the thread runs again. */
static void went_on(void *context, struct tracee *tracee)
{
    struct ptrace_hits *hits = context;

    if (!hits->is_hit)
        return;
    const struct ring_stack user = ptrace_source_walk(&hits->source, tracee);
    if (!hits->queue_bytes)
        ptrace_source_count(&hits->source, tracee, &(struct ptrace_count){
            .user = user, .value = take_value(hits), .times = hits->times});
    const size_t size = hits->queue_bytes ? make_record(hits, tracee, &user) : 0;
    pthread_mutex_lock(&hits->source.lock);
    for (uint64_t i = 0; size && i < hits->times; i++)
        put_in_queue(hits, size);
    hits->hit_at = 0;
    pthread_mutex_unlock(&hits->source.lock);
}

static const struct tracer_calls tracer_calls = {
    .execs = execs,
    .ends = ends,
    .stopped = stopped,
    .went_on = went_on,
    .tick = tick,
    .begins = begins,
    .hit = hit,
    .called = called,
    .is_ready = is_ready,
};

/* ---- Single events ---- */

static int open_events(struct collector *collector, struct text *why)
{
    struct ptrace_hits *hits = (struct ptrace_hits *)collector;

    hits->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (hits->bell < 0)
        return -errno;
    const int result = ptrace_source_calls.open(collector, why);
    hits->record = malloc(SNOOP_RECORD_BYTES(1, hits->source.depth + 1 + MOST_VALUES));
    return result || hits->record ? result : -ENOMEM;
}

static void close_hits(struct collector *collector)
{
    ptrace_source_calls.close(collector);
    free(((struct ptrace_hits *)collector)->calls);
}

static void close_events(struct collector *collector)
{
    struct ptrace_hits *hits = (struct ptrace_hits *)collector;

    close_hits(collector);
    close_fd(hits->bell);
    free(hits->record);
    text_free(&hits->queue);
}

static void account_events(struct collector *collector, struct collector_account *account)
{
    ptrace_source_calls.account(collector, account);
    account->lost = ((struct ptrace_hits *)collector)->lost;
    account->seen += account->lost;
}

static void add_lost(const struct collector *collector, struct losses *losses)
{
    const struct ptrace_hits *hits = (const struct ptrace_hits *)collector;

    ptrace_source_calls.add_losses(collector, losses);
    losses_add(losses, &(struct loss){.count = hits->lost, .beside = true},
               "were lost: they came faster than they were printed; narrow the filters, or raise "
               "--buffer-size");
    losses_add(losses, &(struct loss){.count = hits->negative},
               "are in no sum: their value was negative");
    losses_add(losses, &(struct loss){.count = hits->wraps ? LOSSES_UNCOUNTED : 0,
                                      .events = "sums"},
               "are too small: they overflowed 2^64 %llu times", (unsigned long long)hits->wraps);
}

static int event_fd(const struct collector *collector, size_t index)
{
    return index ? -1 : ((const struct ptrace_hits *)collector)->bell;
}

static int deliver(const struct text *queue, collector_take *take, void *context)
{
    int count = 0;
    size_t size;

    for (size_t at = 0; at < queue->length; at += sizeof(size) + size, count++) {
        memcpy(&size, queue->data + at, sizeof(size));
        const int result =
            take(context, (const struct snoop_record *)(const void *)(queue->data + at +
                                                                      sizeof(size)), size);
        if (result)
            return result;
    }
    return count;
}

static int read_events(struct collector *collector, collector_take *take, void *context)
{
    struct ptrace_hits *hits = (struct ptrace_hits *)collector;
    uint64_t rung;

    (void)!read(hits->bell, &rung, sizeof(rung));
    pthread_mutex_lock(&hits->source.lock);
    struct text queue = hits->queue;
    hits->queue = (struct text){0};
    hits->settled = hits->source.tracer.is_open ? now_ns() : UINT64_MAX;
    if (hits->hit_at && hits->hit_at < hits->settled)
        hits->settled = hits->hit_at;
    pthread_mutex_unlock(&hits->source.lock);
    const int result = hits->source.failure ? hits->source.failure : deliver(&queue, take, context);
    text_free(&queue);
    return result;
}

static uint64_t settled(const struct collector *collector)
{
    return ((const struct ptrace_hits *)collector)->settled;
}

static bool is_behind(const struct collector *collector)
{
    return ((const struct ptrace_hits *)collector)->queue.length;
}

static int stop(struct collector *collector)
{
    tracer_end(&((struct ptrace_hits *)collector)->source.tracer);
    return 0;
}

static const struct event_source_calls event_calls = {
    .fd = event_fd,
    .read = read_events,
    .settled = settled,
    .is_behind = is_behind,
    .stop = stop,
};

void ptrace_hits_init(struct ptrace_hits *hits, const struct ptrace_options *options,
                      size_t queue_bytes)
{
    static struct collector_calls calls;

    *hits = (struct ptrace_hits){.bell = -1, .queue_bytes = queue_bytes};
    ptrace_source_init(&hits->source, options, &tracer_calls);
    calls = ptrace_source_calls;
    calls.add_losses = add_lost;
    calls.close = close_hits;
    hits->source.collector.calls = &calls;
    if (!queue_bytes)
        return;
    calls.open = open_events;
    calls.account = account_events;
    calls.close = close_events;
    hits->source.collector = (struct collector){
        .calls = &calls, .events = &event_calls, .wakes_at_once = true};
}

/* ---- Places ---- */

static int ask_for_call(uint32_t tid)
{
    struct call_info info;

    return ptrace(GET_CALL_INFO, (pid_t)tid, sizeof(info), &info) < 0 ? -errno : 0;
}

int ptrace_hits_try_calls(void)
{
    return tracer_try(ask_for_call);
}

static int attach_call(struct ptrace_hits *hits, const struct ptrace_point *point)
{
    if (!hits->call_count && ptrace_hits_try_calls())
        return -ENOSYS;
    const int result = ARRAY_RESERVE(hits->calls, hits->call_room, hits->call_count + 1);
    if (!result)
        hits->calls[hits->call_count++] = *point;
    return result;
}

static int attach_point(void *context, struct attachment *attachment,
                        const struct attach_request *request, const struct place *place,
                        size_t number)
{
    struct ptrace_hits *hits = context;
    const struct ptrace_point point = {
        .place = place,
        .number = number,
        .values = &hits->source.options.values[attach_program_of(place)],
        .at_entry = attach_variants[attach_program_of(place)].caller,
        .in_library = place->path && strstr(base_name(place->path), ".so"),
    };

    (void)request;
    (void)attachment;
    if (place->kind == PLACE_TRACEPOINT)
        return attach_call(hits, &point);
    hits->has_returns = hits->has_returns || place->at_return;
    if (place->semaphore)
        return -EROFS;
    if (place->at_return && hits->source.machine->bits == 64 && event_values_narrow(place->file))
        return -ENOEXEC;
    if (hits->count + hits->has_returns >= hits->source.options.breakpoints)
        return -ENOSPC;
    hits->points[hits->count++] = point;
    return 0;
}

static void explain(const void *context, int error, struct text *sentence)
{
    const struct ptrace_hits *hits = context;

    if (error == -ENOSPC)
        text_format(sentence, "a thread has %zu hardware breakpoints%s: name at most as many "
                    "functions", hits->source.options.breakpoints,
                    hits->has_returns ? ", of which returns take one" : "");
    else if (error == -ENOEXEC)
        text_add(sentence, "returns of 32-bit programs need probes: name the function itself");
    else if (error == -ENOSYS)
        text_add(sentence, "system calls by ptrace(2) need Linux 5.3: trace functions of libc, as "
                 "in c:read");
    else if (error == -EROFS)
        text_add(sentence, "the probe's semaphore is in the program's memory, which ptrace(2) is "
                 "not to change: name a probe without one, or a function");
    else
        text_add(sentence, strerror(-error));
}

const struct attach_instead ptrace_attach = {NULL, attach_point, NULL, explain};
