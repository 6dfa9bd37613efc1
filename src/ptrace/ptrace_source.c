/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "ptrace/ptrace_source.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/say.h"
#include "base/util.h"
#include "machine/machine.h"
#include "store/store.h"

#define NS_PER_SECOND 1000000000ull
#define STACK_BYTES UNWIND_MOST_KEPT
#define MOST_REGISTERS 64
#define KERNEL_STACK_BYTES 4096 /* of text */
#define KERNEL_FRAMES 4096      /* told apart, in all stacks */
#define MOST_WAITED 3 /* periods that a thread may owe: see most_waited */
#define LOOK_AGAIN_NS 1000000000 /* at mappings that seem unchanged */
#define MOST_AWAITED_MS 2000 /* until all threads have stopped once */
#define LOOK_SOON_NS 20000000    /* at mappings, after a look in vain */

/* ---- Whose turn it is ---- */

static bool has_user(const struct event_filter *filter, const struct tracee *tracee)
{
    char path[64];
    uint32_t user;

    snprintf(path, sizeof(path), "/proc/%u/task/%u/status", tracee->pid, tracee->tid);
    return !filter->uid_count || (!read_status(AT_FDCWD, path, STATUS_UID, &user) &&
                                  filter_takes_user(filter, user));
}

bool ptrace_source_wants(const struct ptrace_source *source, const struct tracee *tracee,
                         unsigned cpu)
{
    const struct event_filter *filter = &source->options.scope->filter;

    return (filter->cpu < 0 || filter->cpu == cpu) &&
        filter_takes_name(filter, tracee->comm) && has_user(filter, tracee);
}

/* ---- A sample ---- */

/* Widens the registers that unwind tables need to 64 bits. False: the program's ABI is another. */
#ifdef __mips__
#define EPC 34 /* index in PTRACE_GETREGS, 64-bit words on all MIPS: after 32 registers, lo, hi */
static bool take_registers(const struct machine *machine, uint32_t tid, struct unwind_state *state)
{
    uint64_t words[MOST_REGISTERS] = {0};
    const uint64_t bits = UINT64_MAX >> (64 - machine->bits);

    if (ptrace(PTRACE_GETREGS, (pid_t)tid, NULL, words))
        return false;
    for (size_t i = 0; i < EPC - 2; i++)
        state->registers[i] = words[i] & bits;
    state->pc = words[EPC] & bits;
    state->sp = state->registers[machine->sp.word];
    state->frame = state->registers[machine->frame.word];
    return true;
}
#else
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
#endif

uint64_t ptrace_source_narrow_pc(const struct ptrace_source *source, const struct tracee *tracee)
{
    uint32_t words[2 * MOST_REGISTERS] = {0};
    struct iovec room = {words, sizeof(words)};
    const struct machine *const *narrow = machines;

    while (*narrow && (*narrow)->wide != source->machine)
        narrow++;
    if (!*narrow || ptrace(PTRACE_GETREGSET, (pid_t)tracee->tid, (void *)NT_PRSTATUS, &room))
        return 0;
    return words[(*narrow)->pc.word];
}

/* Reads the thread's mappings; the caller holds the processes. */
static void see_mappings(struct processes *processes, struct tracee *tracee)
{
    processes_see(processes, tracee->pid);
    tracee->looked = now_ns();
}

/* Reads the thread's mappings, unless those known still hold. */
static void look_at_mappings(struct ptrace_source *source, struct tracee *tracee)
{
    struct processes *processes = __atomic_load_n(&source->processes, __ATOMIC_ACQUIRE);
    const uint64_t shape = processes ? tracee_shape(tracee) : 0;
    uint64_t pc = source->state->pc;

    if (!processes)
        return;
    processes_hold(processes);
    const uint64_t now = now_ns();
    if (shape != tracee->shape || !tracee->looked || now - tracee->looked > LOOK_AGAIN_NS ||
        !processes_code_at(processes, tracee->pid, now, &pc)) {
        see_mappings(processes, tracee);
        tracee->shape = shape;
    }
    processes_release(processes);
}

void ptrace_source_take(struct ptrace_source *source, struct tracee *tracee)
{
    struct unwind_state *state = source->state;

    *state = (struct unwind_state){.count = 1, .exact = 1, .first = 1, .pid = tracee->pid,
                                   .tid = tracee->tid, .base = UNWIND_BASE_IN_REGISTERS};
    if (!source->options.capture.user_stack ||
        !take_registers(source->machine, tracee->tid, state))
        return;
    state->kept = read_memory(tracee->tid, state->sp, source->stack, STACK_BYTES);
    look_at_mappings(source, tracee);
}

/* The walk begins as if at the caller of a frame that does not restore any registers. */
void ptrace_source_take_at(struct ptrace_source *source, struct tracee *tracee,
                           const struct tracee_call *call)
{
    *source->state = (struct unwind_state){.count = 1, .frame_lost = 1, .pid = tracee->pid,
                                           .tid = tracee->tid, .base = UNWIND_BASE_LOST,
                                           .pc = call->pc, .sp = call->sp};
    source->state->kept = read_memory(tracee->tid, call->sp, source->stack, STACK_BYTES);
    look_at_mappings(source, tracee);
}

uint64_t ptrace_source_caller(const struct ptrace_source *source)
{
    const struct machine *machine = source->machine;
    const size_t size = machine->bits / 8;
    uint64_t caller = 0;

    if (machine->link.word < UNWIND_REGISTERS)
        return source->state->registers[machine->link.word];
    if (source->state->kept >= size)
        memcpy(&caller, source->stack, size);
    return caller;
}

/* Walks by frame pointers: for --unwind fp, or because there are no tables. */
static size_t walk_frames(const struct ptrace_source *source)
{
    const struct unwind_state *state = source->state;
    const struct machine_walk *walk = source->machine->walk;
    const size_t size = source->machine->bits / 8;
    uint64_t frame = state->frame, last = state->sp;
    uint64_t *frames = source->frames;
    size_t count = 0;

    frames[count++] = state->pc;
    if (state->at_entry && count < source->depth && !source->options.unwind->first_alone)
        frames[count++] = ptrace_source_caller(source);
    while (walk && !source->options.unwind->first_alone && count < source->depth) {
        const uint64_t record = frame + (uint64_t)walk->record, at = record - state->sp;
        uint64_t pair[2] = {0};
        if (record < last || at >= state->kept || state->kept - at < 2 * size)
            break;
        memcpy(&pair[0], source->stack + at, size);
        memcpy(&pair[1], source->stack + at + size, size);
        if (!pair[1])
            break;
        frames[count++] = walk->address ? pair[1] & walk->address : pair[1];
        last = record + 2 * size;
        frame = pair[0];
    }
    return count;
}

static struct ring_stack walk(struct ptrace_source *source)
{
    struct ring_unwind *unwind = source->options.unwind;
    struct ring_stack stack = {.count = 0};

    source->state->time = now_ns();
    if (source->state->pc && unwind->deferred)
        (void)ring_unwind_walk_from(unwind, source->state, source->stack, &stack);
    else if (source->state->pc)
        stack = (struct ring_stack){source->frames, walk_frames(source)};
    return stack;
}

/* A JIT may have mapped memory since: the kernel counts it as data, which the shape leaves out. */
static bool see_more(struct ptrace_source *source, struct tracee *tracee)
{
    struct processes *processes = __atomic_load_n(&source->processes, __ATOMIC_ACQUIRE);

    if (!processes || now_ns() - tracee->in_vain < LOOK_SOON_NS)
        return false;
    processes_hold(processes);
    see_mappings(processes, tracee);
    processes_release(processes);
    return true;
}

static bool is_at_unmapped(const struct ring_stack *stack)
{
    return stack->count &&
        stack->frames[stack->count - 1] == UNWIND_END_FRAME(UNWIND_END_UNMAPPED);
}

struct ring_stack ptrace_source_walk(struct ptrace_source *source, struct tracee *tracee)
{
    struct ring_stack stack = walk(source);

    if (is_at_unmapped(&stack) && see_more(source, tracee)) {
        stack = walk(source);
        if (is_at_unmapped(&stack))
            tracee->in_vain = now_ns();
    }
    if (stack.count > source->depth)
        stack.count = source->depth;
    return stack;
}

/* ---- Counting ---- */

void ptrace_source_task(const struct ptrace_source *source, const struct tracee *tracee,
                        struct tally_task *who)
{
    struct processes *processes = source->processes;

    who->pid = tracee->pid;
    who->tid = source->options.capture.per_thread ? tracee->tid : 0;
    memcpy(who->comm, tracee->comm, sizeof(tracee->comm));
    if (processes) {
        processes_hold(processes);
        who->generation = processes_generation_at(processes, tracee->pid, now_ns());
        processes_release(processes);
    }
}

void ptrace_source_take_kernel(struct ptrace_source *source, struct tracee *tracee)
{
    char text[KERNEL_STACK_BYTES] = "";

    if (source->texts.frames)
        tracee_kernel_stack(tracee, text, sizeof(text));
    tracee->kernel_count =
        stack_texts_number(&source->texts, text, tracee->kernel, TRACEE_KERNEL_FRAMES);
}

void ptrace_source_count(struct ptrace_source *source, const struct tracee *tracee,
                         const struct ptrace_count *count)
{
    struct ring_key key = {.mark = count->mark};
    uint64_t kernel[TRACEE_KERNEL_FRAMES];
    int result = 0;

    for (size_t i = 0; i < tracee->kernel_count; i++)
        kernel[i] = tracee->kernel[i];
    if (count->with_kernel)
        key.task.kernel = (struct ring_stack){kernel, tracee->kernel_count};
    pthread_mutex_lock(&source->lock);
    key.task.user = count->user;
    if (source->options.capture.per_process)
        ptrace_source_task(source, tracee, &key.task.who);
    for (uint64_t i = 0; i < count->times && !result; i++)
        result = ring_count(&source->table, &key, count->value);
    source->counted += count->times;
    if (!source->failure)
        source->failure = result;
    pthread_mutex_unlock(&source->lock);
}

void ptrace_source_leave_out(struct ptrace_source *source, uint64_t times)
{
    pthread_mutex_lock(&source->lock);
    source->filtered += times;
    pthread_mutex_unlock(&source->lock);
}

/* ---- The collector ---- */

static int open_source(struct collector *collector, struct text *why)
{
    struct ptrace_source *source = (struct ptrace_source *)collector;
    const struct ptrace_options *options = &source->options;
    const struct tracer_options tracer = {
        .filter = &options->scope->filter,
        .command = options->scope->command,
        .breakpoints = options->breakpoints,
        .follows = options->scope->follows,
        .processes = &source->processes,
        .calls = source->calls,
        .context = source,
    };

    source->machine = machine_of_kernel();
    source->depth = options->capture.depth ? options->capture.depth
        : (uint32_t)store_depth_limit();
    source->table.most = ring_table_most(options->stacks);
    source->period = NS_PER_SECOND / options->frequency;
    /* On a single CPU the tracer itself preempts every thread that runs. */
    source->most_waited = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? source->period * MOST_WAITED : 0;
    options->unwind->stack_bytes = STACK_BYTES;
    pthread_mutex_init(&source->lock, NULL);
    source->is_open = true;
    source->stack = malloc(STACK_BYTES);
    source->state = calloc(1, sizeof(*source->state));
    source->frames = calloc(source->depth, sizeof(*source->frames));
    if (options->capture.kernel_stack)
        source->texts.frames = calloc(KERNEL_FRAMES, sizeof(*source->texts.frames));
    source->texts.room = source->texts.frames ? KERNEL_FRAMES : 0;
    if (!source->stack || !source->state || !source->frames)
        return -ENOMEM;
    return tracer_open(&source->tracer, &tracer, why);
}

static int start(struct collector *collector)
{
    struct ptrace_source *source = (struct ptrace_source *)collector;

    __atomic_store_n(&source->processes, *source->options.processes, __ATOMIC_RELEASE);
    tracer_start(&source->tracer, source->period);
    for (int i = 0; i < MOST_AWAITED_MS && source->calls->is_ready &&
         !source->calls->is_ready(source); i++)
        (void)poll(NULL, 0, 1);
    return 0;
}

static void account(struct collector *collector, struct collector_account *account)
{
    struct ptrace_source *source = (struct ptrace_source *)collector;

    pthread_mutex_lock(&source->lock);
    *account = (struct collector_account){
        .seen = source->counted + source->filtered,
        .filtered = source->filtered,
        .counted = source->counted,
        .bytes = STACK_BYTES,
        .depth = source->depth,
    };
    pthread_mutex_unlock(&source->lock);
}

static bool has_died(const struct ptrace_source *source)
{
    return __atomic_load_n(&source->tracer.has_ended, __ATOMIC_ACQUIRE) &&
        source->tracer.was_killed;
}

static void add_losses(const struct collector *collector, struct losses *losses)
{
    const struct ptrace_source *source = (const struct ptrace_source *)collector;

    losses_add(losses, &(struct loss){.count = source->table_full},
               "are only in the total, as [table full]: the table of %zu counts was full; raise "
               "--stack-storage-size", source->table.most);
    losses_add(losses, &(struct loss){.count = has_died(source) ? LOSSES_UNCOUNTED : 0,
                                      .matters = 1,
                                      .beside = true},
               "are missing: the process that traces (ptracer) was killed; do not kill it");
}

static void describe(const struct collector *collector, bool again, struct text *lines)
{
    const struct ptrace_source *source = (const struct ptrace_source *)collector;

    (void)again;
    text_format(lines, "ptrace: %zu threads seized by process %d\n", source->tracer.tracees.count,
                (int)source->tracer.pid);
}

static void close_source(struct collector *collector)
{
    struct ptrace_source *source = (struct ptrace_source *)collector;

    tracer_close(&source->tracer);
    free(source->stack);
    free(source->state);
    free(source->frames);
    stack_texts_free(&source->texts);
    tally_free(&source->table);
    if (source->is_open)
        pthread_mutex_destroy(&source->lock);
    source->is_open = false;
}

static enum tally_news look(struct collector *collector)
{
    struct ptrace_source *source = (struct ptrace_source *)collector;

    return ring_table_look(&source->table, &source->lock);
}

static int settled(struct collector *collector)
{
    return ((struct ptrace_source *)collector)->failure;
}

static int collect(struct collector *collector, bool again, struct tally *tally)
{
    struct ptrace_source *source = (struct ptrace_source *)collector;

    if (!again)
        tracer_end(&source->tracer);
    pthread_mutex_lock(&source->lock);
    source->table_full += source->table.full;
    const int result = source->failure ? source->failure : tally_move(&source->table, tally);
    pthread_mutex_unlock(&source->lock);
    return result;
}

const struct collector_calls ptrace_source_calls = {
    .open = open_source,
    .start = start,
    .account = account,
    .add_losses = add_losses,
    .describe = describe,
    .close = close_source,
};

static const struct counter_calls counter = {
    .look = look,
    .settle = settled,
    .collect = collect,
};

void ptrace_source_init(struct ptrace_source *source, const struct ptrace_options *options,
                        const struct tracer_calls *of_tracer)
{
    *source = (struct ptrace_source){
        .collector = {.calls = &ptrace_source_calls, .counter = &counter},
        .options = *options,
        .calls = of_tracer,
    };
}

void ptrace_source_say(const struct ptrace_source *source)
{
    const struct tracer *tracer = &source->tracer;

    if (tracer->unprivileged)
        say("%u set-user-ID programs (%s) ran without the rights of their owner, as they were "
            "traced: run it as root", tracer->unprivileged, tracer->example);
}
