/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Fragments that claim a slot to work in, and release it: struct slot in layout.h.
 *
 * Programs nest if one of them may run on a CPU before another has ended there: those on user
 * probes, which can be preempted, and with them all others in the same run; likewise, since Linux
 * 7.2, those on system calls' tracepoints. Each that may nest with another claims a slot of its
 * own, and notes there when it walks a stack (walk.h).
 */
#ifndef STACKBOX_INSNS_SLOT_H
#define STACKBOX_INSNS_SLOT_H

#include "insns/program.h"

struct slot_wishes {
    int slots;     /* the map */
    bool meets;    /* otherwise the first slot is always free */
    int16_t index; /* 4 free bytes on the stack */
};

/* r8 = a slot of our own. If none is free, counts that in the account at r9, and goes to "out". */
void emit_claim_slot(struct program *program, const struct slot_wishes *wishes);

/*
 * r7 = the first slot of this CPU, where programs that nest leave notes; goes to `none` without
 * one.
 */
void emit_load_first_slot(struct program *program, const struct slot_wishes *wishes,
                          const char *none);

/* Releases the slot at r8. r0 to r5 are lost here as above. */
void emit_release_slot(struct program *program, const struct slot_wishes *wishes);

#endif
