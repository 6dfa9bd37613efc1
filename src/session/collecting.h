/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which collector a run has: the first that this kernel and these rights allow. Which, is said where it is not the first. */
#ifndef STACKBOX_SESSION_COLLECTING_H
#define STACKBOX_SESSION_COLLECTING_H

#include "session/trace_options.h"

/* What an applet asks for, as far as it decides about who collects. */
struct collecting_wishes {
    bool takes_own; /* events of the caller's own tasks are taken without any right, */
    bool own;       /* and those of some tasks are all that is asked for */
    bool programs;  /* nothing else can be had */
    bool walks;     /* the stacks are those of functions of the kernel, which a program can walk */
};

struct collecting {
    enum collect_way way;
    int refused; /* why it is not the first, which is the best: a negative errno, or 0 */
    int result;  /* the same, of this one */
};

/*
 * The first way that works: each is tried and undone. Where none does it is the one whose refusal tells the most.
 */
struct collecting collecting_find(const struct collecting_wishes *wishes);

/* Sets options->collect to what --collect says, else to the above, and options->by_rings. */
void collecting_choose(struct trace_options *options, const struct collecting_wishes *wishes);
/* Where it is not the first, and nobody asked for it: says which, and why. To be called once it runs. */
void collecting_say(const struct trace_options *options);

#endif
