/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which user stacks were not walked to their root, and why: for one line at the end of a run. */
#ifndef STACKBOX_COUNTING_CUT_STACKS_H
#define STACKBOX_COUNTING_CUT_STACKS_H

#include "insns/unwind_layout.h"
#include "symbolize/symbolize.h"

#define CUT_CAUSES 32 /* told apart; the rest is counted alone */

struct cut_cause {
    enum unwind_end end;
    char file[64]; /* of the last frame; "": not known */
    uint64_t events;
};

/* {0} is none. */
struct cut_stacks {
    uint64_t stacks, cut; /* of users, by their events */
    struct cut_cause causes[CUT_CAUSES];
    size_t count;
};

/* Those of a report. */
void cut_stacks_see(struct cut_stacks *stacks, const struct tally *tally, const struct symbols *symbols);

/* The line where it is more than one in a hundred; with `all` a line for each cause. */
void cut_stacks_add_lines(const struct cut_stacks *stacks, bool all, struct text *lines);

#endif
