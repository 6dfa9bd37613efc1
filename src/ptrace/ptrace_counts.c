/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "ptrace/ptrace_counts.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/util.h"
#include "machine/machine.h"
#include "store/store.h"

#define NS_PER_SECOND 1000000000ull
#define STACK_BYTES UNWIND_MOST_KEPT
#define MOST_REGISTERS 64
/* One that was idle for that many ticks is looked at in one of as many: a power of 2. */
#define IDLE_TICKS 8
#define MOST_WAITED 3 /* periods, for a thread that runs when it is interrupted */
#define BEGINNING_NS 50000 /* of CPU time, at most, for beginning and stopping */
#define LOOK_AGAIN_NS 1000000000 /* at mappings that seem unchanged */

/* ---- A sample ---- */

/* Into words of 64 bits, as many as tables need. False: it is another kind of program. */
static bool take_registers(const struct machine *machine, uint32_t tid, struct unwind_state *state)
{
    uint64_t words[MOST_REGISTERS] = {0};
    struct iovec room = {words, sizeof(words)};
    const size_t size = machine->bits / 8;
    const uint32_t *halves = (const uint32_t *)(const void *)words;

    if (machine->pc.word >= UNWIND_REGISTERS || machine->sp.word >= UNWIND_REGISTERS ||
        machine->frame.word >= UNWIND_REGISTERS ||
        ptrace(PTRACE_GETREGSET, (pid_t)tid, (void *)NT_PRSTATUS, &room) ||
        room.iov_len < (size_t)(machine->pc.word + 1) * size)
        return false;
    for (size_t i = 0; i < UNWIND_REGISTERS && i < room.iov_len / size; i++)
        state->registers[i] = size == sizeof(*halves) ? halves[i] : words[i];
    state->pc = state->registers[machine->pc.word];
    state->sp = state->registers[machine->sp.word];
    state->frame = state->registers[machine->frame.word];
    return true;
}

/* From the stack pointer on, as far as it goes. */
static size_t read_stack(uint32_t tid, uint64_t sp, void *to)
{
    const struct iovec local = {to, STACK_BYTES}, remote = {(void *)(uintptr_t)sp, STACK_BYTES};
    ssize_t got = process_vm_readv((pid_t)tid, &local, 1, &remote, 1, 0);
    char path[32];

    if (got >= 0 || errno == EFAULT)
        return got < 0 ? 0 : (size_t)got;
    /* A kernel without process_vm_readv(2), or a filter that forbids it. */
    snprintf(path, sizeof(path), "/proc/%u/mem", tid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    got = fd < 0 ? 0 : pread(fd, to, STACK_BYTES, (off_t)sp);
    if (fd >= 0)
        close(fd);
    return got < 0 ? 0 : (size_t)got;
}

/* Does what is known about its memory still hold? */
static void look_at_mappings(const struct ptrace_counts *counts, struct tracee *tracee)
{
    struct processes *processes = __atomic_load_n(&counts->processes, __ATOMIC_ACQUIRE);
    const uint64_t shape = processes ? tracee_shape(tracee) : 0;
    uint64_t pc = counts->sample.state->pc;

    if (!processes)
        return;
    processes_hold(processes);
    const uint64_t now = now_ns();
    if (shape != tracee->shape || !tracee->looked || now - tracee->looked > LOOK_AGAIN_NS ||
        !processes_code_at(processes, tracee->pid, now, &pc)) {
        processes_see(processes, tracee->pid);
        tracee->shape = shape;
        tracee->looked = now;
    }
    processes_release(processes);
}

/* How many periods its time is since the last sample: one at least. */
static uint64_t settle(struct ptrace_counts *counts, struct tracee *tracee)
{
    if (!tracee->is_sampled) {
        tracee->owed += counts->owed;
        counts->owed = 0;
    }
    tracee->is_sampled = true;
    const int64_t period = (int64_t)counts->period;
    const int64_t periods = (tracee->owed + period / 2) / period, samples = periods > 1 ? periods
        : 1;

    tracee->owed -= samples * period;
    return (uint64_t)samples;
}

/*
 * A new thread may only have waited for a CPU until now. Before it stopped, some kernels had not
 * counted yet what it took since it was last scheduled. Threads that wait for a CPU do so where the
 * kernel took it from them, often at the end of a system call: those are left out if others are to
 * be had.
 */
static bool has_run(const struct ptrace_counts *counts, struct tracee *tracee)
{
    const uint64_t slices = tracee->slices, cpu = tracee_cpu(tracee),
        ran = cpu > tracee->cpu ? cpu - tracee->cpu : 0;

    tracee->owed += (int64_t)ran;
    tracee->cpu += ran;
    return cpu > BEGINNING_NS &&
        (tracee->slices == slices || tracee->owed >= (int64_t)counts->most_waited);
}

static void stopped(void *context, struct tracee *tracee)
{
    struct ptrace_counts *counts = context;
    struct ptrace_sample *sample = &counts->sample;
    struct unwind_state *state = sample->state;

    sample->samples = 0;
    if (!has_run(counts, tracee))
        return;

    *state = (struct unwind_state){.count = 1, .exact = 1, .first = 1, .pid = tracee->pid,
                                   .tid = tracee->tid, .base = UNWIND_BASE_IN_REGISTERS};
    sample->samples = settle(counts, tracee);
    if (!counts->options.capture.user_stack ||
        !take_registers(counts->machine, tracee->tid, state))
        return;
    state->kept = read_stack(tracee->tid, state->sp, sample->stack);
    look_at_mappings(counts, tracee);
}

/* By frame pointers: what --unwind fp asks for, or what is left without tables. */
static size_t walk_frames(const struct ptrace_counts *counts, const struct unwind_state *state,
                          uint64_t *frames)
{
    const struct machine_walk *walk = counts->machine->walk;
    const size_t size = counts->machine->bits / 8;
    uint64_t frame = state->frame, last = state->sp;
    size_t count = 0;

    frames[count++] = state->pc;
    while (walk && !counts->options.unwind->first_alone && count < counts->depth) {
        const uint64_t record = frame + (uint64_t)walk->record, at = record - state->sp;
        uint64_t pair[2] = {0};
        if (record < last || at >= state->kept || state->kept - at < 2 * size)
            break;
        memcpy(&pair[0], counts->sample.stack + at, size);
        memcpy(&pair[1], counts->sample.stack + at + size, size);
        if (!pair[1])
            break;
        frames[count++] = walk->address ? pair[1] & walk->address : pair[1];
        last = record + 2 * size;
        frame = pair[0];
    }
    return count;
}

static int count_sample(struct ptrace_counts *counts, const struct tracee *tracee)
{
    struct ptrace_sample *sample = &counts->sample;
    struct ring_unwind *unwind = counts->options.unwind;
    struct processes *processes = counts->processes;
    uint64_t *frames = unwind->deferred ? NULL : malloc(counts->depth * sizeof(*frames));
    struct ring_key key = {.waker = NULL};
    int result = 0;

    if (sample->state->pc && unwind->deferred)
        (void)ring_unwind_walk_from(unwind, sample->state, sample->stack, &key.task.user);
    else if (sample->state->pc && frames)
        key.task.user = (struct ring_stack){frames, walk_frames(counts, sample->state, frames)};
    if (key.task.user.count > counts->depth)
        key.task.user.count = counts->depth;
    if (counts->options.capture.per_process) {
        key.task.who.pid = tracee->pid;
        key.task.who.tid = counts->options.capture.per_thread ? tracee->tid : 0;
        memcpy(key.task.who.comm, tracee->comm, sizeof(tracee->comm));
        if (processes) {
            processes_hold(processes);
            key.task.who.generation = processes_generation_at(processes, tracee->pid,
                                                              sample->state->time);
            processes_release(processes);
        }
    }
    for (uint64_t i = 0; i < sample->samples && !result; i++)
        result = ring_table_add(&counts->table, &key, 1);
    counts->counted += sample->samples;
    free(frames);
    return result;
}

/* While it runs again. */
static void went_on(void *context, struct tracee *tracee)
{
    struct ptrace_counts *counts = context;

    if (!counts->sample.samples)
        return;
    counts->sample.state->time = now_ns();
    pthread_mutex_lock(&counts->lock);
    const int result = count_sample(counts, tracee);
    if (!counts->failure)
        counts->failure = result;
    pthread_mutex_unlock(&counts->lock);
}

/* ---- Whose turn it is ---- */

static bool has_user(const struct event_filter *filter, const struct tracee *tracee)
{
    char path[64];
    uint32_t user;

    snprintf(path, sizeof(path), "/proc/%u/task/%u/status", tracee->pid, tracee->tid);
    if (!filter->uid_count || read_uid(AT_FDCWD, path, &user))
        return !filter->uid_count;
    for (size_t i = 0; i < filter->uid_count; i++)
        if (filter->uids[i] == user)
            return true;
    return false;
}

static bool has_name(const struct event_filter *filter, const struct tracee *tracee)
{
    for (size_t i = 0; i < filter->comm_count; i++)
        if (!memcmp(filter->comms[i], tracee->comm, COMM_BYTES))
            return true;
    return !filter->comm_count;
}

static bool is_wanted(const struct event_filter *filter, const struct tracee *tracee, unsigned cpu)
{
    return (filter->cpu < 0 || filter->cpu == cpu) && has_name(filter, tracee) &&
        has_user(filter, tracee);
}

/* One that waits for a CPU runs, too: over time its samples are those of the CPU time it got. */
static void look_at(struct ptrace_counts *counts, struct tracee *tracee)
{
    unsigned where;

    if (tracee->idle >= IDLE_TICKS && (counts->ticks + tracee->tid) % IDLE_TICKS)
        return;
    const uint64_t cpu = tracee_cpu(tracee);
    if (cpu != tracee->cpu)
        tracee->idle = 0;
    else if (tracee->idle < IDLE_TICKS)
        tracee->idle++;
    tracee->owed += cpu > tracee->cpu ? (int64_t)(cpu - tracee->cpu) : 0;
    tracee->cpu = cpu;
    /* One that has just begun may run although the scheduler has not counted that yet. */
    if ((tracee->idle && tracee->is_sampled) || tracee->is_asked ||
        tracee->owed + (tracee->is_sampled ? 0 : counts->owed) < 0 ||
        tracee_state(tracee, &where) != 'R')
        return;
    if (is_wanted(&counts->options.scope->filter, tracee, where)) {
        tracer_ask(tracee);
        return;
    }
    pthread_mutex_lock(&counts->lock);
    counts->filtered += settle(counts, tracee);
    pthread_mutex_unlock(&counts->lock);
}

static void tick(void *context)
{
    struct ptrace_counts *counts = context;
    const struct tracees *tracees = &counts->tracer.tracees;

    counts->ticks++;
    for (size_t i = 0; i < tracees->count; i++)
        if (tracees->items[i].counts && tracees->items[i].has_begun)
            look_at(counts, &tracees->items[i]);
}

/*
 * Of threads that live less than a period most have no sample, and some one that stands for more
 * than their time: the balance of those that end goes to those that are sampled for the first time,
 * so that all together have the samples of their time.
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
    /* No tick came in time: where it was is not known, but that it was there. */
    if (!tracee->is_sampled && tracee->owed >= (int64_t)counts->period &&
        tracee_state(tracee, &where) &&
        is_wanted(&counts->options.scope->filter, tracee, where)) {
        counts->sample.state->pc = 0;
        counts->sample.samples = settle(counts, tracee);
        went_on(counts, tracee);
    }
    counts->owed += tracee->owed;
}

/* What the command took before its program is ours. */
static void execs(void *context, struct tracee *tracee)
{
    struct ptrace_counts *counts = context;

    if (tracee->pid == counts->options.scope->command && !tracee->is_sampled) {
        tracee->cpu = tracee_cpu(tracee);
        tracee->owed = 0;
    }
}

static const struct tracer_calls tracer_calls = {execs, ends, stopped, went_on, tick};

/* ---- The collector ---- */

static struct ptrace_counts *counts_of(struct collector *collector)
{
    return (struct ptrace_counts *)collector;
}

static int open_counts(struct collector *collector, struct text *why)
{
    struct ptrace_counts *counts = counts_of(collector);
    const struct ptrace_options *options = &counts->options;
    const struct tracer_options tracer = {
        .filter = &options->scope->filter,
        .command = options->scope->command,
        .follows = options->scope->follows,
        .processes = &counts->processes,
        .calls = &tracer_calls,
        .context = counts,
    };

    counts->machine = machine_of_kernel();
    counts->depth = options->capture.depth ? options->capture.depth
        : (uint32_t)store_depth_limit();
    counts->table.most = ring_table_most(options->stacks);
    counts->period = NS_PER_SECOND / options->frequency;
    /* We take the only CPU from all others. */
    counts->most_waited = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? counts->period * MOST_WAITED : 0;
    options->unwind->stack_bytes = STACK_BYTES;
    pthread_mutex_init(&counts->lock, NULL);
    counts->is_open = true;
    counts->sample.stack = malloc(STACK_BYTES);
    counts->sample.state = calloc(1, sizeof(*counts->sample.state));
    return counts->sample.stack && counts->sample.state
        ? tracer_open(&counts->tracer, &tracer, why) : -ENOMEM;
}

static int start(struct collector *collector)
{
    struct ptrace_counts *counts = counts_of(collector);

    __atomic_store_n(&counts->processes, *counts->options.processes, __ATOMIC_RELEASE);
    tracer_start(&counts->tracer, counts->period);
    return 0;
}

static void account(struct collector *collector, struct collector_account *account)
{
    struct ptrace_counts *counts = counts_of(collector);

    pthread_mutex_lock(&counts->lock);
    *account = (struct collector_account){
        .seen = counts->counted + counts->filtered,
        .filtered = counts->filtered,
        .counted = counts->counted,
        .bytes = STACK_BYTES,
        .depth = counts->depth,
    };
    pthread_mutex_unlock(&counts->lock);
}

static bool has_died(const struct ptrace_counts *counts)
{
    return __atomic_load_n(&counts->tracer.has_ended, __ATOMIC_ACQUIRE) &&
        counts->tracer.was_killed;
}

static void add_losses(const struct collector *collector, struct losses *losses)
{
    const struct ptrace_counts *counts = (const struct ptrace_counts *)collector;

    losses_add(losses, &(struct loss){.count = counts->table_full},
               "are only in the total, as [table full]: the table of %zu counts was full; raise "
               "--stack-storage-size", counts->table.most);
    losses_add(losses, &(struct loss){.count = has_died(counts) ? LOSSES_UNCOUNTED : 0,
                                      .matters = 1,
                                      .beside = true},
               "are missing: the process that traces (ptracer) was killed; do not kill it");
}

static void describe(const struct collector *collector, bool again, struct text *lines)
{
    const struct ptrace_counts *counts = (const struct ptrace_counts *)collector;

    (void)again;
    text_format(lines, "ptrace: %zu threads seized by process %d\n", counts->tracer.tracees.count,
                (int)counts->tracer.pid);
}

static void close_counts(struct collector *collector)
{
    struct ptrace_counts *counts = counts_of(collector);

    tracer_close(&counts->tracer);
    free(counts->sample.stack);
    free(counts->sample.state);
    ring_table_free(&counts->table);
    if (counts->is_open)
        pthread_mutex_destroy(&counts->lock);
    counts->is_open = false;
}

static enum collector_news look(struct collector *collector)
{
    struct ptrace_counts *counts = counts_of(collector);

    pthread_mutex_lock(&counts->lock);
    const size_t count = counts->table.tally.count;
    pthread_mutex_unlock(&counts->lock);
    return count > counts->table.most / 2 ? COLLECTOR_IS_FILLING : count ? COLLECTOR_HAS_NEWS
        : COLLECTOR_NOTHING_NEW;
}

static int settled(struct collector *collector)
{
    return counts_of(collector)->failure;
}

static int collect(struct collector *collector, bool again, struct tally *tally)
{
    struct ptrace_counts *counts = counts_of(collector);

    if (!again)
        tracer_end(&counts->tracer);
    pthread_mutex_lock(&counts->lock);
    counts->table_full += counts->table.full;
    const int result = counts->failure ? counts->failure : ring_table_move(&counts->table, tally);
    pthread_mutex_unlock(&counts->lock);
    return result;
}

static const struct collector_calls calls = {
    .open = open_counts,
    .start = start,
    .account = account,
    .add_losses = add_losses,
    .describe = describe,
    .close = close_counts,
};

static const struct counter_calls counter = {
    .look = look,
    .settle = settled,
    .collect = collect,
};

void ptrace_counts_init(struct ptrace_counts *counts, const struct ptrace_options *options)
{
    *counts = (struct ptrace_counts){
        .collector = {.calls = &calls, .counter = &counter},
        .options = *options,
    };
}

void ptrace_counts_say(const struct ptrace_counts *counts, struct text *lines)
{
    const struct tracer *tracer = &counts->tracer;

    if (tracer->unprivileged)
        text_format(lines, "%u set-user-ID programs (%s) ran without the rights of their owner, as "
                    "they were traced: run stackbox as root\n", tracer->unprivileged,
                    tracer->example);
}
