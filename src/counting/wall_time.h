/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What walltime has besides switches and wakeups (offwaking.c): samples, and threads that no switch
 * reports. It speaks to the user.
 */
#ifndef STACKBOX_COUNTING_WALL_TIME_H
#define STACKBOX_COUNTING_WALL_TIME_H

#include "collect/bpf_waits.h"
#include "counting/blocked.h"
#include "counting/first_waits.h"
#include "counting/sampled.h"

struct wall_time {
    struct sampled sampled;
    struct asleep_wishes threads; /* those asked for */
    struct first_waits first;
    int unseen; /* the negative errno for which not all of the first waits are known; or 0 */
};
#define WALL_TIME_NONE {.sampled.wishes.program = -1}

/* Samples, `frequency` times a second on each CPU. 0 or the exit status. */
int wall_time_attach(struct wall_time *wall, const struct offwake_wishes *wishes,
                     const struct trace_options *options, uint64_t frequency);

/* Just before events are counted: unknown threads are looked for among these, in /proc. */
void wall_time_begin(struct wall_time *wall, const struct asleep_wishes *threads, struct walling *walling);
/* And just after, if they are to have kernel stacks: in which calls they are blocked. */
void wall_time_look(struct wall_time *wall, int map);

/*
 * Adds what no switch has reported; the time and the mark of `all_along` are set here. 0 or a
 * negative errno.
 */
int wall_time_add(struct wall_time *wall, const struct walling *walling,
                  struct blocked_all_along *all_along, struct tally *tally);

void wall_time_add_losses(struct wall_time *wall, struct missing *missing);
void wall_time_close(struct wall_time *wall);

#endif
