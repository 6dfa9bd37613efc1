/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Fragments that claim a slot to work in, and give it back: struct slot in layout.h. */
#ifndef STACKBOX_SLOT_H
#define STACKBOX_SLOT_H

#include "insns/program.h"

struct slot_wishes {
    int slots;        /* the map */
    bool preemptible; /* another program may run on this CPU before this one has ended */
    int16_t index;    /* where on the stack 4 bytes are free */
};

/*
 * r8 = a slot that is ours. Where none is free that is counted in the account at r9, and the program
 * left by "out".
 */
void emit_claim_slot(struct program *program, const struct slot_wishes *wishes);

/* Gives the slot at r8 back. r0 to r5 are lost here as above. */
void emit_release_slot(struct program *program, const struct slot_wishes *wishes);

#endif
