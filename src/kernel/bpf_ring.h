/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The reader of a BPF_MAP_TYPE_RINGBUF (5.8), the one ring of all CPUs. Programs reserve a record,
 * fill it and submit it; records are seen in the order in which they were reserved.
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
    uint64_t mark; /* how far records were reserved at a moment */
    uint64_t mark_time;
    bool is_marked;
    uint64_t settled;
};

/* `bytes` is a power of two, of pages. 0 or a negative errno; bpf_ring_close after either. */
int bpf_ring_open(struct bpf_ring *ring, size_t bytes);
void bpf_ring_close(struct bpf_ring *ring);

/* `record` is good during the call. 0, or a negative errno that ends the reading. */
typedef int ring_take(void *context, const void *record, size_t size);

/*
 * Hands out what was submitted, up to the first record that is not: how many, or a negative errno.
 * Of programs that take the time once they have reserved, no record will come any more whose time is
 * before ring->settled (CLOCK_MONOTONIC).
 */
int bpf_ring_read(struct bpf_ring *ring, ring_take *take, void *context);

#endif
