/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Fragments that describe a thread in a slot's party, and copy that to where it is kept. */
#ifndef STACKBOX_INSNS_PARTY_H
#define STACKBOX_INSNS_PARTY_H

#include "insns/life.h"
#include "insns/program.h"
#include "insns/stacks.h"

/* What is shown of a thread: anything more would keep equal counts apart. */
struct party_wishes {
    bool kernel_stack, user_stack;
    bool in_namespace; /* *(u32 *)(r10 + foreign) says whether it is outside ours */
    uint32_t depth;
    struct life_maps lives;
    struct bank_maps banks;
    const struct unwind_wishes *unwind; /* user stacks by tables, or NULL */
    int16_t foreign, index; /* 4 bytes on the stack each; `index` is free */
};

/* Nobody, at `place` from a register. */
void emit_nobody(struct program *program, unsigned base, int place);

/* Clears the party of the slot at r8: somebody about whom nothing is known yet. */
void emit_clear_party(struct program *program);

/*
 * Makes it the current thread, whose numbers are in r7: pid << 32 | tid. r6 is the context, r9 the
 * control word. r0 to r5 are lost.
 */
void emit_party(struct program *program, const struct party_wishes *wishes);
/* Its two halves: everything but the stacks, and these. r7 is not read for the latter. */
void emit_who(struct program *program, const struct party_wishes *wishes);
void emit_party_stacks(struct program *program, const struct party_wishes *wishes);

/* r0 = above 0 for a user thread: it has frames there. The slot's scratch is overwritten. */
void emit_look_for_user(struct program *program);

/* Copies the slot's party to r0 + place. r1 is lost. */
void emit_copy_party(struct program *program, int place);

#endif
