/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The ring of one perf event, as the kernel fills it and we read it. */
#ifndef STACKBOX_KERNEL_PERF_RING_H
#define STACKBOX_KERNEL_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

/* The length of a record is a number of 16 bits. */
#define PERF_RING_MOST_RECORD_BYTES 65536

struct perf_ring {
    int fd; /* the event, owned by the ring */
    struct perf_event_mmap_page *page;
    char *data;
    size_t bytes; /* of the data: a power of two */
};

/*
 * Maps the ring of event `fd`, which is the ring's from then on, also where this fails. 0 or a
 * negative errno; perf_ring_close after either.
 */
int perf_ring_open(struct perf_ring *ring, int fd, size_t bytes);
void perf_ring_close(struct perf_ring *ring);

/* Up to which position there are records now. */
uint64_t perf_ring_head(const struct perf_ring *ring);

/* Is there something that was not released? */
bool perf_ring_has_any(const struct perf_ring *ring);

/*
 * Copies the record at position `at`, before `head`, to `record`, which has room for
 * PERF_RING_MOST_RECORD_BYTES. Its size, or 0: there is none that is whole.
 */
size_t perf_ring_copy(const struct perf_ring *ring, uint64_t at, uint64_t head, char *record);

/*
 * The same, but *record is in the ring, to be read until that is released, where it is a sample that stands there in
 * one piece: they are large. Else it is `room`.
 */
size_t perf_ring_find(const struct perf_ring *ring, uint64_t at, uint64_t head, char *room, char **record);

/* The kernel may write over all before this position. */
void perf_ring_release(const struct perf_ring *ring, uint64_t position);

#endif
