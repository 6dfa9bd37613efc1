/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which user stacks were not walked to their root, and why: for one line at the end of a run. */
#ifndef STACKBOX_COUNTING_CUT_STACKS_H
#define STACKBOX_COUNTING_CUT_STACKS_H

#include "insns/unwind_layout.h"
#include "symbolize/symbolize.h"

#define CUT_CAUSES 32 /* told apart; others are only counted in total */

struct cut_cause {
    enum unwind_end end;
    bool of_waker;
    char file[64]; /* of the last frame; "": unknown */
    uint64_t events;
};

/* {0} is empty. */
struct cut_stacks {
    struct {
        uint64_t stacks, cut; /* user stacks, by events */
    } of[2]; /* those asked for, and wakers */
    struct cut_cause causes[CUT_CAUSES];
    size_t count;
};

/* Adds a report's. */
void cut_stacks_see(struct cut_stacks *stacks, const struct tally *tally, const struct symbols *symbols);

/* A line for those asked for and one for wakers, if it is more than one in a hundred; with `all` a line per cause. */
void cut_stacks_add_lines(const struct cut_stacks *stacks, bool all, struct text *lines);

#endif
