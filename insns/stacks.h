/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The fragments that choose a bank, and that get a stack and keep it there. The fast way is the
 * kernel's: get_stackid, whose id is a bucket of a hash - when another stack has that bucket, this
 * one would be lost. Then it is fetched whole, hashed here with 64 bits, and kept in a hash map under
 * that. Programs that can be preempted keep every stack so: two of them that fill one bucket at once
 * would count under each other's stack.
 */
#ifndef STACKBOX_STACKS_H
#define STACKBOX_STACKS_H

#include "insns/program.h"

/* A map of the main bank and its like in the stand-in. */
struct map_pair {
    int main, stand_in;
};

/*
 * r9 = the control word; paused: the program is left by its label "out". `zero` is where 4 bytes of
 * zero stand on the stack. r0 to r5 are lost, here as below.
 */
void emit_load_mode(struct program *program, int control, int16_t zero);

/* Names of labels that the program has only once. */
struct bank_labels {
    const char *stand_in, *chosen;
};

/*
 * r1 = the map of the bank that r9 says. It is chosen anew wherever it is needed: a register
 * that holds a map of one or the other bank would make the verifier follow all that comes after it
 * twice.
 */
void emit_load_bank_map(struct program *program, const struct map_pair *maps,
                        const struct bank_labels *labels);

struct stack_wishes {
    bool user;      /* the user's stack, else the kernel's */
    uint32_t depth; /* frames, at most */
    struct map_pair stacks, spilled;
    int16_t place;  /* where in the slot the word goes that stands for it: see layout.h */
};

/* r6 is the context, r8 a slot of SLOT_BYTES(depth), r9 the control word. */
void emit_stack(struct program *program, const struct stack_wishes *wishes);

/*
 * The same by the stack's own hash alone: the word holds as long as somebody keeps the stack. Where
 * there is none, it is 0 or a negative errno.
 */
void emit_hashed_stack(struct program *program, const struct stack_wishes *wishes);

/*
 * The same by the stack's own hash alone, in a program that may be preempted. r7 is lost, too.
 */
struct preempted_wishes {
    int slots;     /* the map of all slots */
    int16_t index; /* where on the stack 4 bytes are free */
};
void emit_preemptible_stack(struct program *program, const struct stack_wishes *wishes,
                            const struct preempted_wishes *preempted);

#endif
