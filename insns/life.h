/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The programs that keep the map of lives (layout.h), on the raw tracepoints sched_process_exec and
 * sched_process_exit. A stack that carries what the map says at its moment is never taken for one
 * of another program that the same process ran before or after, or of another process with its pid.
 */
#ifndef STACKBOX_LIFE_H
#define STACKBOX_LIFE_H

#include "insns/program.h"

/* `ended`: for sched_process_exit, else for sched_process_exec. */
void emit_life(struct program *program, int lives, bool ended);

/*
 * *(u64 *)(r8 + place) = what the map says of the current process; left as it is where it says
 * nothing. `pid_known`: r7 is pid << 32 | tid by the numbers of the whole machine. `key` is where 4
 * bytes are free on the stack. r0 to r5 are lost.
 */
void emit_load_life(struct program *program, int lives, bool pid_known, int16_t key, int16_t place);

#endif
