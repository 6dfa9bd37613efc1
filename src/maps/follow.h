/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Follows what this thread starts and all its descendants, whatever user they run as. */
#ifndef STACKBOX_MAPS_FOLLOW_H
#define STACKBOX_MAPS_FOLLOW_H

#include "insns/filter.h"
#include "kernel/refusal.h"
#include "kernel/tracepoint.h"

struct follow {
    int map; /* below 0: none */
    uint32_t size;
    struct tracepoint birth, exec;
};
#define FOLLOW_NONE {-1, 0, TRACEPOINT_NONE, TRACEPOINT_NONE}

/*
 * From now on, what the calling thread forks is followed from its exec on, with all its
 * descendants. If the filter has pids, their children are followed, from the start, and they
 * themselves are picked as well. `filter`, whose pid namespace is set, then picks only those. 0, or
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
