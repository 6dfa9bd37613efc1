/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The processes and threads asked for, and no others that are given their numbers later; and what this
 * thread starts, or they do, with all descendants, whatever user they run as.
 */
#ifndef STACKBOX_MAPS_FOLLOW_H
#define STACKBOX_MAPS_FOLLOW_H

#include "insns/filter.h"
#include "kernel/refusal.h"
#include "kernel/tracepoint.h"

struct follow {
    int map, asked; /* below 0: none */
    uint32_t size;
    struct tracepoint birth, exec;
};
#define FOLLOW_NONE {-1, -1, 0, TRACEPOINT_NONE, TRACEPOINT_NONE}

/* Makes the map of what `filter` asks for. 0 or a negative errno. */
int follow_ask(struct follow *follow, struct event_filter *filter);
/*
 * From now on, numbers given to other tasks leave that map, if nothing is followed. 0, or a negative
 * errno if that is not possible here: before Linux 4.7, without the right to task:task_newtask, or,
 * in a namespace, without knowing tasks' numbers.
 */
int follow_asked(struct follow *follow, const struct event_filter *filter);
/*
 * A process asked for in which a thread other than the first has executed a program (4.17); 0: none has. In
 * the initial namespace, that thread, if asked for, is then asked for by its new number.
 */
uint32_t follow_other(const struct follow *follow, const struct event_filter *filter);

/*
 * From now on, what the calling thread forks is followed from its exec on, with all its
 * descendants. If the filter has pids, their children are followed, from the start, and they
 * themselves are picked as well, by follow_ask. `filter`, whose pid namespace is set, then picks only those. 0, or
 * a negative errno with what was refused in *what. follow_close after either.
 */
int follow_open(struct follow *follow, struct event_filter *filter, enum refused *what);
void follow_close(struct follow *follow);

/*
 * Forks and execs that the kernel skipped (5.12): children that should be followed are not, or the
 * other way round.
 */
uint64_t follow_missed(const struct follow *follow);
/* Has kernel.pid_max been raised since? Pids beyond the old limit are not followed. */
bool follow_is_outgrown(const struct follow *follow);

#endif
