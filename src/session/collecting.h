/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which collector a run uses: the first that this kernel and these rights allow. If it is not the
 * first, that is reported.
 */
#ifndef STACKBOX_SESSION_COLLECTING_H
#define STACKBOX_SESSION_COLLECTING_H

#include "session/trace_options.h"

/* What an applet needs, as far as it decides about collectors. */
struct collecting_wishes {
    bool takes_own; /* events of the user's own tasks need no rights, */
    bool own;       /* and only events of certain tasks are asked for */
    bool programs;  /* nothing else will do */
    bool walks;     /* the stacks are kernel functions', which a program can walk */
};

struct collecting {
    enum collect_way way;
    int refused; /* why it is not the first, which is the best: a negative errno, or 0 */
    int result;  /* the same for this one */
};

/*
 * The first collector that works: each is tried and undone. If none does, the one whose refusal
 * says most.
 */
struct collecting collecting_find(const struct collecting_wishes *wishes);

/* Sets options->collect to what --collect says, or else to the above, and options->by_rings. */
void collecting_choose(struct trace_options *options, const struct collecting_wishes *wishes);
/*
 * If it is not the first, and was not asked for: says which it is, and why. To be called once it
 * runs.
 */
void collecting_say(const struct trace_options *options);

#endif
