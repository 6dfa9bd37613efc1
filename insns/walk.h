/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The fragment that walks a stack: the only place where bytecode gets frames. */
#ifndef STACKBOX_INSNS_WALK_H
#define STACKBOX_INSNS_WALK_H

#include "insns/program.h"
#include "insns/unwind.h"

/* A word in memory, from a register. */
struct walk_word {
    unsigned base;
    int16_t at;
};

struct walk_wishes {
    bool user;      /* the user's stack, otherwise the kernel's */
    uint32_t depth; /* frames, at most */
    int32_t frames; /* where they go, from r8 */
    /*
     * Another program of ours may walk on this CPU before this one has ended. `own` is a number,
     * not 0, that no other such program has at that time; `last` is the number of the one that last
     * began to walk, on this CPU and among all of them. Both are 32 bits.
     */
    bool disturbed;
    struct walk_word own, last;
    const char *walked; /* a label that the program has only once, if disturbed */
    /*
     * By tables first, if possible; NULL: there are none. A walk by tables has a frame for its end
     * after the frames, if there is room (unwind_layout.h).
     */
    const struct unwind_wishes *unwind;
    struct unwind_place unwind_place; /* `frames` are those above */
    const char *unwound;              /* another such label */
};

/*
 * r0 = how many bytes of frames there are, or a negative errno. r6 is the context; r1 to r5 are
 * lost. Every walk in programs that may nest must be `disturbed`: otherwise it leaves no trace.
 */
void emit_walk(struct program *program, const struct walk_wishes *wishes);

#endif
