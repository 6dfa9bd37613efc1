/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "rings/ring_source.h"

#include <string.h>

/*
 * Kernels before 4.18 report this for registers that they did not save: on x86-64, in system calls.
 * MIPS kernels report stale values instead.
 */
#define UNKNOWN UINT64_MAX

/*
 * Of a compiler's and an interpreter's stacks, 99 of 100 fit into FEW_BYTES, 97 into MANY_BYTES;
 * half of those that MANY_BYTES cuts are sort's, each with a buffer on it. A sample takes that much
 * of the ring, however small its stack is. Calls come in bursts, and the reader thread needs some
 * ten milliseconds to get to them.
 */
#define FEW_BYTES 32768
#define FEW_SAMPLES 8
#define MANY_BYTES 16384
#define MANY_SAMPLES 4096

void ring_unwind_ask(struct ring_unwind *unwind, bool few, struct rings_config *config)
{
    if (!unwind->machine)
        return;
    unwind->stack_bytes = few ? FEW_BYTES : MANY_BYTES;
    config->registers = unwind->machine->walk->sampled;
    config->stack_bytes = unwind->stack_bytes;
    config->samples = few ? FEW_SAMPLES : MANY_SAMPLES;
}

static void copy_registers(const struct machine_walk *walk, const struct ring_sample *sample,
                           uint64_t *words)
{
    const size_t count = (size_t)__builtin_popcountll(walk->sampled);
    const uint64_t *from = sample->registers;

    for (size_t i = 0; i < count; i++)
        memcpy(&words[walk->sampled_words ? (size_t)walk->sampled_words[i] : i], from + i,
               sizeof(*words));
}

/*
 * Recovers the frame pointer from the kernel's own walk, which had it: its second frame is the
 * return address above the saved frame pointer. Searches the stack for it, and checks that the
 * saved frame pointer leads to the third frame. UNKNOWN: not found.
 */
static uint64_t find_frame(const struct ring_sample *sample, uint64_t sp)
{
    const unsigned char *stack = sample->stack;
    uint64_t pair[2], next[2];

    for (size_t at = 0; sample->user_count > 1 &&
         at + sizeof(pair) <= sample->stack_bytes; at += sizeof(*pair)) {
        memcpy(pair, stack + at, sizeof(pair));
        const uint64_t beside = pair[0] - sp;
        if (pair[1] != sample->user[1])
            continue;
        if (sample->user_count == 2 || beside > sample->stack_bytes - sizeof(next))
            return sp + at;
        memcpy(next, stack + beside, sizeof(next));
        if (next[1] == sample->user[2])
            return sp + at;
    }
    return UNKNOWN;
}

static bool has_room(const uint64_t *frames, size_t count)
{
    return !count || frames[count - 1] != UNWIND_END_FRAME(UNWIND_END_NO_ROOM);
}

void ring_unwind_settle(struct ring_unwind *unwind)
{
    if (!unwind->deferred)
        return;
    processes_hold(unwind->objects->processes);
    unwind->objects->is_settled = false;
    processes_release(unwind->objects->processes);
}

bool ring_unwind_walk_from(struct ring_unwind *unwind, struct unwind_state *state,
                           const void *bytes, struct ring_stack *stack)
{
    processes_hold(unwind->objects->processes);
    const size_t count = deferred_walk_sample(unwind->deferred, state, bytes, unwind->frames);
    processes_release(unwind->objects->processes);
    unwind->counts.walks++;
    if (!has_room(unwind->frames, count)) {
        unwind->counts.fell_back++;
        return false;
    }
    *stack = (struct ring_stack){unwind->frames, count};
    return true;
}

bool ring_unwind_walk(struct ring_unwind *unwind, const struct ring_sample *sample, uint64_t time,
                      bool at_entry, struct ring_stack *stack)
{
    const struct machine *machine = unwind->machine;
    struct unwind_state state = {.count = 1, .exact = 1, .first = 1,
                                 .base = UNWIND_BASE_IN_REGISTERS};

    if (!unwind->deferred || !sample->registers)
        return false;
    copy_registers(machine->walk, sample, state.registers);
    state.pc = state.registers[machine->pc.word];
    state.sp = state.registers[machine->sp.word];
    uint64_t *frame = &state.registers[machine->frame.word];
    if (machine->calls_lack_frame && sample->in_kernel)
        *frame = UNKNOWN;
    if (*frame == UNKNOWN)
        *frame = find_frame(sample, state.sp);
    state.frame = *frame;
    state.frame_lost = state.frame == UNKNOWN;
    if (machine->walk->base &&
        state.registers[machine_word_of(machine->walk, machine->walk->base)] == UNKNOWN)
        state.base = UNWIND_BASE_LOST;
    state.at_entry = at_entry;
    state.pid = sample->pid;
    state.tid = sample->tid;
    state.time = time;
    state.kept = sample->stack_bytes;
    return ring_unwind_walk_from(unwind, &state, sample->stack, stack);
}
