/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Hardware breakpoints: addresses in a thread's debug registers, where it stops with SIGTRAP before
 * it executes the instruction. No byte of its memory is changed.
 *
 * The kernel leaves them set when the tracer lets go, and the next hit kills a thread that has no
 * tracer: they must be cleared first.
 */
#ifndef STACKBOX_PTRACE_BREAKPOINTS_H
#define STACKBOX_PTRACE_BREAKPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BREAKPOINTS_MOST 16 /* on any machine */

/* How many each thread can have; 0: this machine, or its kernel, has none for ptrace(2). */
size_t breakpoints_count(void);

/* Replaces all breakpoints of a stopped thread; address 0: none. 0 or a negative errno. */
int breakpoints_set(uint32_t tid, const uint64_t *addresses, size_t count);

/* Why a thread has stopped with SIGTRAP. */
enum breakpoint_stop {
    BREAKPOINT_NONE,    /* for another reason */
    BREAKPOINT_HIT,
    BREAKPOINT_STEPPED, /* after PTRACE_SINGLESTEP: past the instruction, */
    BREAKPOINT_HANDLES, /* or at a signal handler's first one */
};
enum breakpoint_stop breakpoints_stop(uint32_t tid);

/* Has a thread that stopped for another reason hit a breakpoint, with its SIGTRAP still pending? */
bool breakpoints_pending(uint32_t tid);

/* Does a thread that goes on hit the breakpoint again, unless it steps over it while cleared? */
bool breakpoints_repeat(void);

#endif
