/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The rings of all CPUs, read as one: records by time, each once. Records newer than `until` stay,
 * as an earlier one of another CPU may still be on its way.
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
    bool of_tasks;     /* its losses are not samples */
    uint64_t at, head; /* positions: of the next record, and of the end of what is there */
    bool was_full;     /* when last looked at, maybe too full for another record */
    size_t size;       /* of the next record; 0: there is none */
    struct ring_record next;
    struct throttle throttle; /* without a ring of its own: reported in this one */
    char *bytes; /* room for a record and one byte */
};

/* 0, or a negative errno, which ends reading. */
typedef int ring_take_record(void *context, const struct ring_record *record);

struct ring_reading {
    struct ring *rings;
    size_t count;
    struct record_shape shape;
    uint64_t samples, lost, tasks_lost, broken; /* counts of what was read */
};

/*
 * Takes over event `fd`, whose ring has `bytes` of data. 0 or a negative errno; ring_close after
 * either.
 */
int ring_open(struct ring *ring, unsigned cpu, int fd, size_t bytes);
void ring_close(struct ring *ring);

/* Hands out samples and task events: 0, what `take` returned, or -ENOMEM. */
int rings_read(struct ring_reading *reading, uint64_t until, ring_take_record *take, void *context);

#endif
