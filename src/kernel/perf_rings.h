/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* One ring per CPU that programs write to by perf_event_output: for kernels before 5.8. */
#ifndef STACKBOX_KERNEL_PERF_RINGS_H
#define STACKBOX_KERNEL_PERF_RINGS_H

#include <stddef.h>
#include <stdint.h>

#include "kernel/bpf_ring.h"
#include "kernel/perf_ring.h"

struct perf_rings {
    int map;
    struct perf_ring *rings; /* of the CPUs that were online */
    uint64_t *taken;         /* in each: how far records were handed out */
    size_t count, room, taken_room;
    uint64_t lost;           /* records, as the kernel reports in the rings */
    char *record;
};

/* `bytes` per CPU: a power of two, of pages. As bpf_ring_open. */
int perf_rings_open(struct perf_rings *rings, size_t bytes);
void perf_rings_close(struct perf_rings *rings);

/* Hands out what is there, CPU by CPU. Returns how many, or a negative errno. */
int perf_rings_read(struct perf_rings *rings, ring_take *take, void *context);

/* ---- For tests ---- */

/*
 * Finds a program's bytes in a ring's record of `size` bytes, and how many: NULL if it is not a
 * program's; if it reports lost records, *lost grows by them.
 */
const void *perf_rings_parse(const char *record, size_t size, size_t *found, uint64_t *lost);

#endif
