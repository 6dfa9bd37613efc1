/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Fragments that choose a bank's map, and that get a stack and keep it there. The fast way is the
 * kernel's: get_stackid, whose id is a bucket of a hash. If another stack has that bucket, or it is
 * not certain yet whose it is, the stack is fetched whole, hashed here with 64 bits, and kept in a
 * hash map under that. Programs that may nest keep every stack this way, and so do those for which
 * a report's time matters more than an event's.
 */
#ifndef STACKBOX_INSNS_STACKS_H
#define STACKBOX_INSNS_STACKS_H

#include "insns/layout.h"
#include "insns/program.h"
#include "insns/unwind.h"

/* For a program without loops, with both stacks: below 4,096 instructions. */
#define UNROLLED_DEPTH 256

struct bank_maps {
    int first[BANK_MAPS];   /* the maps of CONTROL_MAIN */
    int others[BANK_MAPS];  /* maps of such maps, with the other banks' at the bank's word */
    uint32_t shallow_depth; /* stacks up to this depth are shallow; 0: BANK_SHALLOW is not used */
    bool unrolls; /* programs have no loops: stacks have at most UNROLLED_DEPTH frames */
};

/* Labels that the program has only once. */
struct bank_labels {
    const char *other, *chosen;
};

void name_bank_maps(struct program *program, const struct bank_maps *banks);

/*
 * r1 = that map of the bank whose account is at r9; goes to `none` if the bank has none, and so is
 * not counted into. Chosen anew wherever it is needed: a register that may hold either bank's map
 * would make the verifier follow everything after it twice. Uses 4 bytes at r10 + index. r0 to r5
 * are lost, here as below.
 */
struct bank_choice {
    const struct bank_maps *banks;
    enum bank_map map;
    int16_t index;
    const char *none;
};
void emit_load_bank_map(struct program *program, const struct bank_choice *choice,
                        const struct bank_labels *labels);

/* For the main bank: the map that get_stackid fills, and which of its buckets are settled. */
struct stack_ids {
    int map, settled;
    uint32_t buckets; /* 0: none, all stacks are kept by their own hash */
};

struct stack_wishes {
    bool user;      /* the user's stack, otherwise the kernel's */
    uint32_t depth; /* frames, at most */
    struct stack_ids ids;
    struct bank_maps banks;
    int16_t index;  /* 4 free bytes on the stack */
    int16_t place;  /* where in the slot its word goes: see layout.h */
    bool meets;     /* the program may nest with others (slot.h): its stacks have no ids */
    bool at_entry;  /* the event is at a user function's first instruction */
    const struct unwind_wishes *unwind; /* the user's by tables: they have no ids either; or NULL */
};

/*
 * r6 is the context, r8 a slot of SLOT_BYTES(depth), r9 the account, and, if programs nest, r7 the
 * first slot of this CPU. If there is no stack, the word is NO_STACK or a negative errno.
 */
void emit_stack(struct program *program, const struct stack_wishes *wishes);

#endif
