/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What raw tracepoints pass: their context is an array of words, some of which are tasks. A task's
 * fields are read from the kernel's memory, if their place in its struct is known. Linux 5.5.
 */
#ifndef STACKBOX_INSNS_TASK_H
#define STACKBOX_INSNS_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "insns/program.h"

/* Offsets of fields in struct task_struct, in bytes. */
struct task_fields {
    bool known;
    uint16_t pid, exit_state;
    bool has_state; /* sched_switch does not pass the state (before 5.18): it is read from here */
    bool wide_state; /* 64 bits, otherwise 32 */
    uint16_t state;
};

/*
 * *(r10 + place) = `bytes` at `offset` of the task in that word of the context r6, or zeros if that
 * cannot be read. r0 to r5 are lost.
 */
void emit_read_task(struct program *program, int word, uint16_t offset, int bytes, int16_t place);

/*
 * *(u64 *)(r10 + place) = the state in which the task of sched_switch's context r6 leaves, as in
 * the tracepoint's field prev_state, by enum task_state_bits; 0 also if it was preempted. Uses 8
 * bytes at `scratch`; r0 to r5 are lost.
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
