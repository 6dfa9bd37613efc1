/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "rings/ring_unwind.h"

#include <string.h>

/* What kernels before 4.18 give for registers that they have not saved: x86-64's, in system calls. */
#define UNKNOWN UINT64_MAX

/*
 * Of a compiler's and an interpreter's stacks 99 of 100 end before the first, 97 before the second; half of that cut
 * sort's, all of which have a buffer. Each takes as much of the ring, be its stack as small as it may.
 */
#define FEW_BYTES 32768
#define MANY_BYTES 16384

void ring_unwind_ask(struct ring_unwind *unwind, bool few, struct rings_wishes *wishes)
{
    if (!unwind->machine)
        return;
    unwind->stack_bytes = few ? FEW_BYTES : MANY_BYTES;
    wishes->registers = unwind->machine->walk->sampled;
    wishes->stack_bytes = unwind->stack_bytes;
}

static void copy_registers(const struct machine_walk *walk, const struct ring_sample *sample, uint64_t *words)
{
    const size_t count = (size_t)__builtin_popcountll(walk->sampled);
    const uint64_t *from = sample->registers;

    for (size_t i = 0; i < count; i++)
        memcpy(&words[walk->sampled_words ? (size_t)walk->sampled_words[i] : i], from + i, sizeof(*words));
}

static bool has_room(const uint64_t *frames, size_t count)
{
    return !count || frames[count - 1] != UNWIND_END_FRAME(UNWIND_END_NO_ROOM);
}

void ring_unwind_settle(struct ring_unwind *unwind)
{
    if (!unwind->cold)
        return;
    processes_hold(unwind->objects->processes);
    unwind->objects->is_settled = false;
    processes_release(unwind->objects->processes);
}

bool ring_unwind_walk(struct ring_unwind *unwind, const struct ring_sample *sample, uint64_t time, bool at_entry,
                      struct ring_stack *stack)
{
    const struct machine *machine = unwind->machine;
    struct unwind_state state = {.count = 1, .exact = 1, .first = 1, .base = UNWIND_BASE_IN_REGISTERS};

    if (!unwind->cold || !sample->registers)
        return false;
    copy_registers(machine->walk, sample, state.registers);
    state.pc = state.registers[machine->pc.word];
    state.sp = state.registers[machine->sp.word];
    state.frame = state.registers[machine->frame.word];
    state.frame_lost = state.frame == UNKNOWN;
    if (machine->walk->has_base && state.registers[machine_word_of(machine->walk, UNWIND_BASE)] == UNKNOWN)
        state.base = UNWIND_BASE_LOST;
    state.at_entry = at_entry;
    state.pid = sample->pid;
    state.tid = sample->tid;
    state.time = time;
    state.kept = sample->stack_bytes;
    processes_hold(unwind->objects->processes);
    const size_t count = cold_walk_sample(unwind->cold, &state, sample->stack, unwind->frames);
    processes_release(unwind->objects->processes);
    unwind->counts.walks++;
    if (!has_room(unwind->frames, count)) {
        unwind->counts.fell_back++;
        return false;
    }
    *stack = (struct ring_stack){unwind->frames, count};
    return true;
}
