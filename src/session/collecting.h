/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which collector a run has: the first that this kernel and these rights allow. What is not the first is said. */
#ifndef STACKBOX_SESSION_COLLECTING_H
#define STACKBOX_SESSION_COLLECTING_H

#include "session/trace_options.h"

/* What an applet asks for, as far as it decides about who collects. */
struct collecting_wishes {
    bool takes_own; /* events of the caller's own tasks are taken without any right, */
    bool own;       /* and those of some tasks are all that is asked for */
};

/* Would it be possible so? Each thing is tried and undone. 0 or the negative errno of what refuses it. */
int collecting_try(enum collect_way way, const struct collecting_wishes *wishes);

/*
 * The way of the first row that works, without saying so: with `refused` the errno that the first has, or 0.
 * Where none works it is the one whose refusal tells the most.
 */
enum collect_way collecting_find(const struct collecting_wishes *wishes, int *refused);

/* Sets options->collect to what --collect says, else to the above, and options->by_rings. */
void collecting_choose(struct trace_options *options, const struct collecting_wishes *wishes);

#endif
