/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "ptrace/ptrace_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define MOST_MOVED 8 /* bytes, from behind a system call's instruction to where it begins again */

/* ---- What a thread spent ---- */

/* Splits the time since the last look: blocked is what was neither running nor runnable. */
static void settle(struct tracee *tracee)
{
    const uint64_t cpu = tracee->cpu, delay = tracee->delay, now = now_ns();
    int64_t *spent = tracee->spent;

    tracee->cpu = tracee_cpu(tracee);
    if (tracee->since) {
        const int64_t ran = (int64_t)(tracee->cpu - cpu), waited = (int64_t)(tracee->delay - delay);
        spent[TRACEE_RUNNING] += ran;
        spent[TRACEE_RUNNABLE] += waited;
        spent[TRACEE_BLOCKED] += (int64_t)(now - tracee->since) - ran - waited;
    }
    tracee->since = now;
}

/* Does this part of a thread's time count? */
static bool has_part(const struct ptrace_times *times, enum tracee_part part)
{
    const struct ptrace_options *options = &times->source.options;

    return options->all || part == TRACEE_BLOCKED ||
        (part == TRACEE_RUNNABLE && options->runnable);
}

/*
 * Adds what the thread spent in `part` to that stack. The scheduler counts with a delay: a running
 * thread at first gets too much blocked time, and later as much too little.
 */
static void put(struct ptrace_times *times, struct tracee *tracee, enum tracee_part part,
                const struct ring_stack *user)
{
    static const enum tally_mark marks[] = {MARK_RUNNING, MARK_RUNNABLE, MARK_BLOCKED};
    const bool all = times->source.options.all;
    const int64_t spent = tracee->spent[part];

    if (spent <= 0)
        return;
    tracee->spent[part] = 0;
    if (has_part(times, part))
        ptrace_source_count(&times->source, tracee, &(struct ptrace_count){
            .user = *user,
            .with_kernel = part == TRACEE_BLOCKED,
            .mark = !all ? MARK_NONE : user->count || part != TRACEE_RUNNING ? marks[part]
                : MARK_NOT_SAMPLED,
            .value = (uint64_t)spent,
            .times = 1,
        });
}

static void leave_out(struct ptrace_times *times, struct tracee *tracee)
{
    memset(tracee->spent, 0, sizeof(tracee->spent));
    ptrace_source_leave_out(&times->source, 1);
}

/* ---- Waits ---- */

/* Is the thread still at that call? It may have gone on before it was interrupted. */
static bool is_there(uint64_t sp, uint64_t pc, const struct tracee_call *call)
{
    return sp == call->sp && pc - (call->pc - MOST_MOVED) <= 2 * MOST_MOVED;
}

/*
 * A wait lasts until the scheduler gives the thread a CPU. An interrupted thread is given one once
 * to go on, and may find that its wait has ended.
 */
static bool is_in_wait(struct tracee *tracee)
{
    struct tracee_call now;

    if (!tracee->slices || tracee->wait.slices != tracee->slices)
        return false;
    if (tracee->wait.was_interrupted &&
        (tracee_call(tracee, &now) || !is_there(now.sp, now.pc, &tracee->call)))
        tracee->wait.slices = 0;
    tracee->wait.was_interrupted = false;
    return tracee->wait.slices;
}

static struct ring_stack stack_of_wait(const struct tracee *tracee)
{
    return (struct ring_stack){tracee->wait.frames, tracee->wait.count};
}

/* A stack that waits for its table is not kept: it will be walked once only, for one report. */
static void keep_wait(struct tracee *tracee, bool was_interrupted, const struct ring_stack *user)
{
    const size_t bytes = user->count * sizeof(*user->frames);
    const bool is_whole = bytes && !UNWIND_IS_DEFERRED_FRAME(user->frames[user->count - 1]);
    uint64_t *frames = is_whole ? realloc(tracee->wait.frames, bytes) : NULL;

    tracee->wait.slices = frames ? tracee->slices + was_interrupted : 0;
    if (!frames)
        return;
    memcpy(frames, user->frames, bytes);
    tracee->wait.frames = frames;
    tracee->wait.count = user->count;
    tracee->wait.was_interrupted = was_interrupted;
}

/* Without an interruption: of the registers, only pc and sp at the system call are known. */
static void put_wait(struct ptrace_times *times, struct tracee *tracee,
                     const struct tracee_call *call)
{
    struct ring_stack user = {.count = 0};

    if (call->pc && times->source.options.capture.user_stack) {
        ptrace_source_take_at(&times->source, tracee, call);
        user = ptrace_source_walk(&times->source, tracee);
    }
    keep_wait(tracee, false, &user);
    put(times, tracee, TRACEE_BLOCKED, &user);
}

/*
 * After an interruption the kernel shows less of a wait that goes on, as it does not call again the
 * functions that it returned from. So the stack from before stays.
 */
static void take_kernel(struct ptrace_times *times, struct tracee *tracee,
                        const struct tracee_call *call)
{
    const bool goes_on = tracee->slices && tracee->slices == tracee->wait.asked &&
                         is_there(call->sp, call->pc, &tracee->call);

    if (!goes_on || !tracee->kernel_count)
        ptrace_source_take_kernel(&times->source, tracee);
}

/* Interrupts the thread only in a system call that goes on by itself afterwards. */
static void look_at_wait(struct ptrace_times *times, struct tracee *tracee, char state)
{
    struct tracee_call call;
    const int result = tracee_call(tracee, &call);

    if (result == -EAGAIN)
        return; /* it has just gone on */
    take_kernel(times, tracee, &call);
    if (!result && strchr("SD", state) && times->source.options.capture.user_stack &&
        tracee_call_restarts(tracee, &call)) {
        tracee->call = call;
        tracer_ask(tracee);
    } else {
        put_wait(times, tracee, &call);
    }
}

/* ---- Ticks ---- */

/* The thread's state; 0: it is in a wait whose stack is known, or it was not asked for. */
static char look_closer(struct ptrace_times *times, struct tracee *tracee)
{
    unsigned where;

    settle(tracee);
    if (is_in_wait(tracee)) {
        const struct ring_stack user = stack_of_wait(tracee);
        put(times, tracee, TRACEE_BLOCKED, &user);
        return 0;
    }
    const char state = tracee_state(tracee, &where);
    if (state && ptrace_source_wants(&times->source, tracee, where) &&
        (state == 'R' || strchr(times->source.options.waits, state)))
        return state;
    leave_out(times, tracee);
    return 0;
}

static void look_at(struct ptrace_times *times, struct tracee *tracee)
{
    const struct ptrace_options *options = &times->source.options;
    const char state = look_closer(times, tracee);

    if (state && state != 'R') {
        look_at_wait(times, tracee, state);
    } else if (state && (options->all || options->runnable)) {
        tracee->call.pc = 0;
        tracer_ask(tracee);
    }
}

static void tick(void *context)
{
    struct ptrace_times *times = context;
    const struct tracees *tracees = &times->source.tracer.tracees;

    for (size_t i = 0; i < tracees->count; i++)
        if (tracees->items[i].counts && tracees->items[i].has_begun && !tracees->items[i].is_asked)
            look_at(times, &tracees->items[i]);
}

static void stopped(void *context, struct tracee *tracee)
{
    struct ptrace_times *times = context;
    const uint64_t slices = tracee->slices;

    settle(tracee);
    ptrace_source_take(&times->source, tracee);
    times->is_blocked = tracee->call.pc &&
        is_there(times->source.state->sp, times->source.state->pc, &tracee->call);
    times->waits = !tracee->call.pc && tracee->slices != slices;
    times->runs = !times->is_blocked &&
        (!times->waits ||
         tracee->spent[TRACEE_RUNNING] >= (int64_t)times->source.most_waited);
}

static void went_on(void *context, struct tracee *tracee)
{
    struct ptrace_times *times = context;
    const struct ring_stack user = ptrace_source_walk(&times->source, tracee);

    if (times->is_blocked) {
        tracee->wait.asked = tracee->slices + 1;
        keep_wait(tracee, true, &user);
        put(times, tracee, TRACEE_BLOCKED, &user);
    }
    if (times->waits)
        put(times, tracee, TRACEE_RUNNABLE, &user);
    if (times->runs)
        put(times, tracee, TRACEE_RUNNING, &user);
}

/* Of time that no tick found only the length is known, but no stack. */
static void put_rest(struct ptrace_times *times, struct tracee *tracee)
{
    const struct ring_stack nowhere = {.count = 0};

    tracee->kernel_count = 0;
    for (enum tracee_part part = 0; part < TRACEE_PARTS; part++)
        put(times, tracee, part, &nowhere);
    tracee->counts = false;
}

static void ends(void *context, struct tracee *tracee)
{
    struct ptrace_times *times = context;
    unsigned where;

    if (!tracee->counts || !tracee->since)
        return;
    settle(tracee);
    if (tracee_state(tracee, &where) && ptrace_source_wants(&times->source, tracee, where))
        put_rest(times, tracee);
}

/* The run ends: there is no time to interrupt the thread. */
static void leaves(void *context, struct tracee *tracee)
{
    struct ptrace_times *times = context;
    struct tracee_call call;

    if (!tracee->counts || !tracee->since)
        return;
    const char state = look_closer(times, tracee);
    if (state && state != 'R' && tracee_call(tracee, &call) != -EAGAIN) {
        take_kernel(times, tracee, &call);
        put_wait(times, tracee, &call);
    }
    put_rest(times, tracee);
}

/* A command's time begins with its exec. */
static void execs(void *context, struct tracee *tracee)
{
    const struct ptrace_times *times = context;

    tracee->wait.slices = 0;
    if (tracee->pid != times->source.options.scope->command || tracee->since)
        return;
    settle(tracee);
}

static const struct tracer_calls tracer_calls = {
    .execs = execs,
    .ends = ends,
    .leaves = leaves,
    .stopped = stopped,
    .went_on = went_on,
    .tick = tick,
};

void ptrace_times_init(struct ptrace_times *times, const struct ptrace_options *options)
{
    *times = (struct ptrace_times){.runs = false};
    ptrace_source_init(&times->source, options, &tracer_calls);
}
