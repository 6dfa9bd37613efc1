/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads a BPF_MAP_TYPE_RINGBUF (5.8), one ring for all CPUs. Programs reserve a record, fill it and
 * submit it; records are read in the order in which they were reserved.
 */
#ifndef STACKBOX_KERNEL_BPF_RING_H
#define STACKBOX_KERNEL_BPF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_ring {
    int map; /* owned */
    size_t bytes;
    char *consumer, *producer; /* pages with our position and with the programs'; data after it */
    uint64_t mark; /* how far records were reserved at mark_time */
    uint64_t mark_time;
    bool is_marked;
    uint64_t settled;
};

/* `bytes` is a power of two, of pages. 0 or a negative errno; bpf_ring_close after either. */
int bpf_ring_open(struct bpf_ring *ring, size_t bytes);
void bpf_ring_close(struct bpf_ring *ring);

/* `record` is valid during the call. 0, or a negative errno, which ends reading. */
typedef int ring_take(void *context, const void *record, size_t size);

/*
 * Hands out records up to the first that is not submitted yet. Returns how many, or a negative
 * errno. If programs take the time after reserving, no record that is still to come is older than
 * ring->settled (CLOCK_MONOTONIC).
 */
int bpf_ring_read(struct bpf_ring *ring, ring_take *take, void *context);

#endif
