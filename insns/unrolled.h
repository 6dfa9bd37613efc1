/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The program of stackcount where the kernel keeps no stacks (before 4.6), and has no loops: it walks along frame
 * pointers itself, step by step. Linux 4.4; functions of the kernel alone.
 */
#ifndef STACKBOX_INSNS_UNROLLED_H
#define STACKBOX_INSNS_UNROLLED_H

#include "insns/filter.h"
#include "insns/machine.h"

/* So many frames of one kind, or of each of both, and all else are less than 4,096 instructions. */
#define UNROLLED_MOST_OF_ONE 127
#define UNROLLED_MOST_OF_BOTH 96

struct unrolled_wishes {
    struct event_filter filter;
    bool kernel_stack, user_stack;
    bool per_process, per_thread;
    bool at_start;  /* the event is at the first instruction of a function */
    bool from_regs; /* the way into the kernel saves the user's frame pointer, and may clear it */
    const struct machine *machine; /* one with .kernel_stack */
    uint32_t depth; /* frames per stack */
    uint32_t steps; /* so far the kernel's is walked to come to the user's: UNROLLED_MOST_OF_BOTH */
    uint32_t bits;  /* a bank has 1 << bits buckets */
    int control, scratches, buckets; /* the maps that layout.h describes */
};

void emit_unrolled(struct program *program, const struct unrolled_wishes *wishes);

/* ---- What the files of it share ---- */

/* Where things are on the stack, from r10. */
enum {
    UNROLLED_INDEX = -4,    /* the key of a map */
    UNROLLED_FOREIGN = -8,
    UNROLLED_BANK = -16,    /* its number */
    UNROLLED_PAIR = -32,    /* what a frame pointer points to: the next one, and the return address */
    UNROLLED_WHERE = -40,   /* an address in the stack that is walked */
    UNROLLED_REGS = -80,    /* the last words of struct pt_regs */
};

/* How r8 becomes the hash of one word more; an odd number of no pattern, whose sign is extended. */
#define UNROLLED_MIX (-1640531535)

/*
 * Counts what is in the scratch r9, whose hash is r8: in a bucket of that hash, or in one that is free. Where neither
 * is among some the event is lost, and told so. It goes on to the label "out".
 */
void emit_keep_unrolled(struct program *program, const struct unrolled_wishes *wishes);

#endif
