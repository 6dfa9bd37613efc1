/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * For how long the kernel throttled an event because it overflowed more often in a tick than
 * kernel.perf_event_max_sample_rate allows: it says so in the event's ring, which holds nothing
 * else.
 */
#ifndef STACKBOX_KERNEL_THROTTLE_H
#define STACKBOX_KERNEL_THROTTLE_H

#include "kernel/perf_ring.h"

/* Enough for half a second at 1,000 ticks a second. */
#define THROTTLE_RING_BYTES 32768

struct throttle {
    struct perf_ring ring; /* .fd is the event, below 0: there is none */
    uint64_t read_to;
    uint64_t since;   /* CLOCK_MONOTONIC; 0: not throttled now */
    uint64_t stopped; /* ns, up to then */
    uint64_t times;   /* how often */
};

/* Takes over event `fd`. Without memory for a ring, nothing is reported. */
void throttle_open(struct throttle *throttle, int fd);
void throttle_close(struct throttle *throttle);

/* Reads what is new in the ring: twice a second is often enough. */
void throttle_read(struct throttle *throttle);

/* For how long (ns) it was throttled in all, as far as was read. */
uint64_t throttle_stopped(const struct throttle *throttle);

/* ---- For tests ---- */

/* Takes in a record of the ring. */
void throttle_take(struct throttle *throttle, const char *record, size_t size);

#endif
