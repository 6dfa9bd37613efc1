/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Follows what this thread starts, and all that comes of it, whoever it runs as. */
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
 * From here on whom the calling thread forks is followed from its exec on, with all its descendants;
 * `filter`, of which the pid namespace is set, picks none but those from now on. 0, or a negative
 * errno with what was refused in *what. follow_close after either.
 */
int follow_open(struct follow *follow, struct event_filter *filter, enum refused *what);
void follow_close(struct follow *follow);

/*
 * Forks and execs that the kernel skipped (5.12): whom they concern is not followed, or is though
 * it should not be.
 */
uint64_t follow_missed(const struct follow *follow);
/* Was kernel.pid_max raised since? Who has a number beyond the old one is not followed. */
bool follow_is_outgrown(const struct follow *follow);

#endif
