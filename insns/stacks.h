/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The fragments that choose a bank's map, and that get a stack and keep it there. The fast way is the
 * kernel's: get_stackid, whose id is a bucket of a hash. When another stack has that bucket, or it is
 * not certain yet whose it is, the stack is fetched whole, hashed here with 64 bits, and kept in a hash
 * map under that. Programs that may meet keep every stack so, and those where the reports' own time is
 * worth more than an event's.
 */
#ifndef STACKBOX_INSNS_STACKS_H
#define STACKBOX_INSNS_STACKS_H

#include "insns/layout.h"
#include "insns/program.h"
#include "insns/unwind.h"

/* Of a program without loops, with both stacks: it has less than 4,096 instructions. */
#define UNROLLED_DEPTH 256

struct bank_maps {
    int first[BANK_MAPS];   /* the maps of CONTROL_MAIN */
    int others[BANK_MAPS];  /* maps of such maps, with those of the other banks at the bank's word */
    uint32_t shallow_depth; /* up to so many frames are shallow; 0: BANK_SHALLOW is not used */
    bool unrolls; /* programs have no loops: stacks are of UNROLLED_DEPTH at most */
};

/* Names of labels that the program has only once. */
struct bank_labels {
    const char *other, *chosen;
};

void name_bank_maps(struct program *program, const struct bank_maps *banks);

/*
 * r1 = that map of the bank that the account at r9 is of; on to `none` where that bank has none, which
 * is not counted into. It is chosen anew wherever it is needed: a register that holds a map of one or the
 * other bank would make the verifier follow all that comes after it twice. 4 bytes at r10 + index are
 * used for it. r0 to r5 are lost, here as below.
 */
struct bank_choice {
    const struct bank_maps *banks;
    enum bank_map map;
    int16_t index;
    const char *none;
};
void emit_load_bank_map(struct program *program, const struct bank_choice *choice,
                        const struct bank_labels *labels);

/* Of the main bank: the map that get_stackid fills, and which of its buckets are settled. */
struct stack_ids {
    int map, settled;
    uint32_t buckets; /* 0: there are none, all stacks are kept by their own hash */
};

struct stack_wishes {
    bool user;      /* the user's stack, else the kernel's */
    uint32_t depth; /* frames, at most */
    struct stack_ids ids;
    struct bank_maps banks;
    int16_t index;  /* where on the stack 4 bytes are free */
    int16_t place;  /* where in the slot the word goes that stands for it: see layout.h */
    bool meets;     /* the program may meet others (slot.h): its stacks have no ids */
    bool at_entry;  /* the event is at the first instruction of a user's function */
    const struct unwind_wishes *unwind; /* the user's along tables: they have no ids either; or NULL */
};

/*
 * r6 is the context, r8 a slot of SLOT_BYTES(depth), r9 the account, and where programs meet r7 the
 * first slot of this CPU. Where there is no stack, the word is NO_STACK or a negative errno.
 */
void emit_stack(struct program *program, const struct stack_wishes *wishes);

#endif
