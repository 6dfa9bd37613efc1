/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The program of stackcount for kernels that keep no stacks (before 4.6), and allow no loops: it
 * walks frame pointers itself, step by step. Linux 4.4; only for kernel functions.
 */
#ifndef STACKBOX_INSNS_UNROLLED_H
#define STACKBOX_INSNS_UNROLLED_H

#include "insns/filter.h"
#include "insns/machine.h"

/* With this many frames of one kind, or of each of both, the whole is below 4,096 instructions. */
#define UNROLLED_MOST_OF_ONE 127
#define UNROLLED_MOST_OF_BOTH 96

struct unrolled_wishes {
    struct event_filter filter;
    bool kernel_stack, user_stack;
    bool per_process, per_thread;
    bool at_start;  /* the event is at a function's first instruction */
    bool from_regs; /* the kernel's entry saves the user's frame pointer, and may clear it */
    const struct machine *machine; /* one with .kernel_stack */
    uint32_t depth; /* frames per stack */
    uint32_t steps; /* how far the kernel's is walked towards the user's: UNROLLED_MOST_OF_BOTH */
    uint32_t bits;  /* a bank has 1 << bits buckets */
    int control, scratches, buckets; /* the maps that layout.h describes */
};

void emit_unrolled(struct program *program, const struct unrolled_wishes *wishes);

/* ---- Shared by its files ---- */

/* Places on the stack, from r10. */
enum {
    UNROLLED_INDEX = -4,    /* a map's key */
    UNROLLED_FOREIGN = -8,
    UNROLLED_BANK = -16,    /* its number */
    UNROLLED_PAIR = -32,    /* what a frame pointer points to: the next, and the return address */
    UNROLLED_WHERE = -40,   /* an address in the stack being walked */
    UNROLLED_REGS = -80,    /* the last words of struct pt_regs */
};

/* Mixes another word into the hash r8; an odd number without a pattern, sign-extended. */
#define UNROLLED_MIX (-1640531535)

/*
 * Counts what is in the scratch r9, whose hash is r8: in a bucket with that hash, or in a free one.
 * If neither is among a few, the event is lost, and counted as such. Goes to the label "out".
 */
void emit_keep_unrolled(struct program *program, const struct unrolled_wishes *wishes);

#endif
