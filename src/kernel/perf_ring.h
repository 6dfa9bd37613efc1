/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The ring of one perf event, as the kernel fills it and we read it. */
#ifndef STACKBOX_KERNEL_PERF_RING_H
#define STACKBOX_KERNEL_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

/* A record's length is a 16-bit number. */
#define PERF_RING_MOST_RECORD_BYTES 65536

struct perf_ring {
    int fd; /* the event, owned by the ring */
    struct perf_event_mmap_page *page;
    char *data;
    size_t bytes; /* of the data: a power of two */
};

/*
 * Maps the ring of event `fd`, which belongs to the ring from then on, even if this fails. 0 or a
 * negative errno; perf_ring_close after either.
 */
int perf_ring_open(struct perf_ring *ring, int fd, size_t bytes);
void perf_ring_close(struct perf_ring *ring);

/* The position up to which there are records now. */
uint64_t perf_ring_head(const struct perf_ring *ring);

/* Are there records that were not released? */
bool perf_ring_has_any(const struct perf_ring *ring);

/*
 * Copies the record at position `at`, before `head`, to `record`, which has room for
 * PERF_RING_MOST_RECORD_BYTES. Returns its size, or 0: there is no whole record.
 */
size_t perf_ring_copy(const struct perf_ring *ring, uint64_t at, uint64_t head, char *record);

/*
 * The same, but a sample that is contiguous is not copied, as samples are large: *record is then in
 * the ring, valid until that is released. Otherwise it is `room`.
 */
size_t perf_ring_find(const struct perf_ring *ring, uint64_t at, uint64_t head, char *room, char **record);

/* Lets the kernel overwrite everything before this position. */
void perf_ring_release(const struct perf_ring *ring, uint64_t position);

#endif
