/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "ptrace/ptrace_source.h"

/* After this many idle ticks, a thread is looked at in one tick of this many: a power of 2. */
#define IDLE_TICKS 8
#define BEGINNING_NS 50000 /* CPU time that a new thread takes to begin and stop, at most */

/* How many periods of the thread's CPU time the sample stands for: at least one. */
static uint64_t settle(struct ptrace_counts *counts, struct tracee *tracee)
{
    if (!tracee->is_sampled) {
        tracee->owed += counts->owed;
        counts->owed = 0;
    }
    tracee->is_sampled = true;
    const int64_t period = (int64_t)counts->source.period;
    const int64_t periods = (tracee->owed + period / 2) / period, samples = periods > 1 ? periods
        : 1;

    tracee->owed -= samples * period;
    return (uint64_t)samples;
}

/*
 * A new thread may only have waited for a CPU until now. Before a thread stops, some kernels have
 * not yet counted its time since it was last scheduled. A thread that waits for a CPU stops where
 * the kernel preempted it, often at the end of a system call: it has no sample then, unless it owes
 * too much CPU time.
 */
static bool has_run(const struct ptrace_counts *counts, struct tracee *tracee)
{
    const uint64_t slices = tracee->slices, cpu = tracee_cpu(tracee),
        ran = cpu > tracee->cpu ? cpu - tracee->cpu : 0;

    tracee->owed += (int64_t)ran;
    tracee->cpu += ran;
    return cpu > BEGINNING_NS && (tracee->slices == slices ||
                                  tracee->owed >= (int64_t)counts->source.most_waited);
}

static void stopped(void *context, struct tracee *tracee)
{
    struct ptrace_counts *counts = context;

    counts->samples = 0;
    if (!has_run(counts, tracee))
        return;
    ptrace_source_take(&counts->source, tracee);
    counts->samples = settle(counts, tracee);
}

static void count_samples(struct ptrace_counts *counts, const struct tracee *tracee,
                          const struct ring_stack *user)
{
    ptrace_source_count(&counts->source, tracee, &(struct ptrace_count){
        .user = *user, .value = 1, .times = counts->samples});
}

/* Walks the stack while the thread runs again. */
static void went_on(void *context, struct tracee *tracee)
{
    struct ptrace_counts *counts = context;

    if (!counts->samples)
        return;
    const struct ring_stack user = ptrace_source_walk(&counts->source, tracee);
    count_samples(counts, tracee, &user);
}

/* State R includes waiting for a CPU: over time, samples still match the CPU time of the thread. */
static void look_at(struct ptrace_counts *counts, struct tracee *tracee)
{
    unsigned where;

    if (tracee->idle >= IDLE_TICKS && (counts->source.ticks + tracee->tid) % IDLE_TICKS)
        return;
    const uint64_t cpu = tracee_cpu(tracee);
    if (cpu != tracee->cpu)
        tracee->idle = 0;
    else if (tracee->idle < IDLE_TICKS)
        tracee->idle++;
    tracee->owed += cpu > tracee->cpu ? (int64_t)(cpu - tracee->cpu) : 0;
    tracee->cpu = cpu;
    /* A new thread may run although the scheduler has not counted any time yet. */
    if ((tracee->idle && tracee->is_sampled) || tracee->is_asked ||
        tracee->owed + (tracee->is_sampled ? 0 : counts->owed) < 0 ||
        tracee_state(tracee, &where) != 'R')
        return;
    if (ptrace_source_wants(&counts->source, tracee, where))
        tracer_ask(tracee);
    else
        ptrace_source_leave_out(&counts->source, settle(counts, tracee));
}

static void tick(void *context)
{
    struct ptrace_counts *counts = context;
    const struct tracees *tracees = &counts->source.tracer.tracees;

    counts->source.ticks++;
    for (size_t i = 0; i < tracees->count; i++)
        if (tracees->items[i].counts && tracees->items[i].has_begun)
            look_at(counts, &tracees->items[i]);
}

/*
 * Of threads that live for less than a period, most have no sample, and some have one that stands
 * for more than their time. The balance of threads that end goes to those that are sampled for the
 * first time, so that all together have the samples of their time.
 */
static void ends(void *context, struct tracee *tracee)
{
    struct ptrace_counts *counts = context;
    const uint64_t cpu = tracee_cpu(tracee);
    unsigned where;

    if (!tracee->counts)
        return;
    tracee->counts = false;
    tracee->owed += cpu > tracee->cpu ? (int64_t)(cpu - tracee->cpu) : 0;
    /* No tick came in time: the thread's time is counted, but without a stack. */
    if (!tracee->is_sampled && tracee->owed >= (int64_t)counts->source.period &&
        tracee_state(tracee, &where) && ptrace_source_wants(&counts->source, tracee, where)) {
        counts->samples = settle(counts, tracee);
        count_samples(counts, tracee, &(struct ring_stack){.count = 0});
    }
    counts->owed += tracee->owed;
}

/* The CPU time that the command's process took before its exec is our own. */
static void execs(void *context, struct tracee *tracee)
{
    const struct ptrace_counts *counts = context;

    if (tracee->pid == counts->source.options.scope->command && !tracee->is_sampled) {
        tracee->cpu = tracee_cpu(tracee);
        tracee->owed = 0;
    }
}

static const struct tracer_calls tracer_calls = {
    .execs = execs,
    .ends = ends,
    .stopped = stopped,
    .went_on = went_on,
    .tick = tick,
};

void ptrace_counts_init(struct ptrace_counts *counts, const struct ptrace_options *options)
{
    *counts = (struct ptrace_counts){.owed = 0};
    ptrace_source_init(&counts->source, options, &tracer_calls);
}
