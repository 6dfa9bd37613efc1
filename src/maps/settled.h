/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The map that get_stackid fills, and which of its ids are settled: see insns/stacks.c. A program
 * notes that it got an id; once all programs that were running when the tracer saw that note have
 * ended, none can still have seen the bucket empty, and its stack stays.
 */
#ifndef STACKBOX_MAPS_SETTLED_H
#define STACKBOX_MAPS_SETTLED_H

#include "insns/stacks.h"
#include "maps/grace.h"

struct settled {
    struct stack_ids ids; /* no buckets: stacks are only kept by our own hash */
    volatile uint8_t *states; /* of each bucket: enum bucket_state; shared with the programs */
    uint64_t next, pause;     /* when to look again, and how long to wait after that, ns */
};
#define SETTLED_NONE {.ids = {-1, -1, 0}}

/*
 * 0 or a negative errno; settled_close after either. If the kernel cannot share arrays (before 5.5)
 * there are no buckets: everything works, but slower.
 */
int settled_open(struct settled *settled, uint32_t stacks, uint32_t depth);
void settled_close(struct settled *settled);

/* How many buckets are in use, at most. */
uint32_t settled_used(const struct settled *settled);

/* Settles the ids of buckets filled since the last time, if it is time for that. */
int settled_advance(struct settled *settled, const struct grace *grace);

/* Empties all buckets, while no program can reach one. 0 or a negative errno. */
int settled_clear(struct settled *settled);

#endif
