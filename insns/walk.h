/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The fragment that walks a stack: the one place where bytecode asks for frames. */
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
    bool user;      /* the user's stack, else the kernel's */
    uint32_t depth; /* frames, at most */
    int32_t frames; /* where they go, from r8 */
    /*
     * Another program of ours may walk on this CPU before this one has ended. `own` is a number, not 0,
     * that no other such program has at that time; `last` is the number of the one that began to walk
     * last, of this CPU and of all of them. Both are 32 bits.
     */
    bool disturbed;
    struct walk_word own, last;
    const char *walked; /* a label that the program has only once, where disturbed */
    /*
     * Along tables first, where they can be; NULL: there are none. Where a walk along them was one, there
     * is a frame for its end behind the frames, as far as there is room (unwind_layout.h).
     */
    const struct unwind_wishes *unwind;
    struct unwind_place unwind_place; /* `frames` are those above */
    const char *unwound;              /* a label likewise */
};

/*
 * r0 = how many bytes of frames there are, or a negative errno. r6 is the context; r1 to r5 are lost.
 * Every walk of programs that may meet is to be `disturbed`: one that is not leaves no trace.
 */
void emit_walk(struct program *program, const struct walk_wishes *wishes);

#endif
