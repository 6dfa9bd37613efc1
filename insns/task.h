/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What raw tracepoints hand over: their context is an array of words, some of which are tasks. Fields of
 * a task are read from the kernel's memory, where they stand in its struct being known. Linux 5.5.
 */
#ifndef STACKBOX_INSNS_TASK_H
#define STACKBOX_INSNS_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "insns/program.h"

/* Where fields of struct task_struct stand, bytes. */
struct task_fields {
    bool known;
    uint16_t pid, exit_state;
    bool has_state; /* sched_switch does not tell the state (before 5.18): it is read from here */
    bool wide_state; /* 64 bits, else 32 */
    uint16_t state;
};

/*
 * *(r10 + place) = `bytes` at `offset` of the task that is that word of the context r6, or zeros where
 * that cannot be read. r0 to r5 are lost.
 */
void emit_read_task(struct program *program, int word, uint16_t offset, int bytes, int16_t place);

/*
 * *(u64 *)(r10 + place) = the state that the task is left in which sched_switch's context r6 is about,
 * as the tracepoint's own field prev_state has it, by enum task_state_bits; 0 also where it was
 * preempted. 8 bytes at `scratch` are free; r0 to r5 are lost.
 */
void emit_read_state(struct program *program, const struct task_fields *fields, int16_t place,
                     int16_t scratch);

/* Words of the contexts. */
enum {
    SWITCH_PREEMPTED,
    SWITCH_PREV,
    SWITCH_NEXT,
    SWITCH_STATE, /* 5.18 */
    WAKING_TASK = 0,
    NEWTASK_TASK = 0,
};

#endif
