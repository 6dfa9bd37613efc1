/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The rings of all CPUs, read as one: records by their time, each once. What is younger than `until` stays
 * where it is, as a record of another CPU that belongs before it may still be on its way.
 */
#ifndef STACKBOX_RINGS_RING_H
#define STACKBOX_RINGS_RING_H

#include <stdbool.h>

#include "kernel/perf_ring.h"
#include "kernel/throttle.h"
#include "rings/records.h"

struct ring {
    struct perf_ring ring;
    unsigned cpu;
    bool of_tasks;     /* what it loses are no samples */
    uint64_t at, head; /* positions: of the next record, and up to where there are any */
    size_t size;       /* of the next record; 0: there is none */
    struct ring_record next;
    struct throttle throttle; /* no ring of its own: what this one tells */
    char *bytes; /* room for a record, and a byte */
};

/* 0, or a negative errno, which ends the reading. */
typedef int ring_take_record(void *context, const struct ring_record *record);

struct ring_reading {
    struct ring *rings;
    size_t count;
    struct record_shape shape;
    uint64_t samples, lost, tasks_lost, broken; /* as they were read */
};

/* Takes over event `fd`, whose ring has so many bytes of data. 0 or a negative errno; ring_close after either. */
int ring_open(struct ring *ring, unsigned cpu, int fd, size_t bytes);
void ring_close(struct ring *ring);

/* Hands out samples and what is told of tasks: 0, what `take` returned, or -ENOMEM. */
int rings_read(struct ring_reading *reading, uint64_t until, ring_take_record *take, void *context);

#endif
