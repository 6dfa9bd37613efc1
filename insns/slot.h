/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Fragments that claim a slot to work in, and give it back: struct slot in layout.h.
 *
 * Programs meet where one of them may run on a CPU before another has ended there: those on user
 * probes, which can be preempted, and with them all others of the same run; likewise, since Linux 7.2,
 * those on tracepoints of system calls. Each that may meet another claims a slot that is its own, and
 * says there when it walks a stack (walk.h).
 */
#ifndef STACKBOX_INSNS_SLOT_H
#define STACKBOX_INSNS_SLOT_H

#include "insns/program.h"

struct slot_wishes {
    int slots;     /* the map */
    bool meets;    /* else the first slot is always free */
    int16_t index; /* where on the stack 4 bytes are free */
};

/*
 * r8 = a slot that is ours. Where none is free that is counted in the account at r9, and the program
 * left by "out".
 */
void emit_claim_slot(struct program *program, const struct slot_wishes *wishes);

/* r7 = the first slot of this CPU, where programs that meet leave word; on to `none` without one. */
void emit_load_first_slot(struct program *program, const struct slot_wishes *wishes,
                          const char *none);

/* Gives the slot at r8 back. r0 to r5 are lost here as above. */
void emit_release_slot(struct program *program, const struct slot_wishes *wishes);

#endif
