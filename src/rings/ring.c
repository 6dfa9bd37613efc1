/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "rings/ring.h"

#include <errno.h>
#include <stdlib.h>

int ring_open(struct ring *ring, unsigned cpu, int fd, size_t bytes)
{
    *ring = (struct ring){.cpu = cpu, .throttle.ring.fd = -1};
    int result = perf_ring_open(&ring->ring, fd, bytes);
    ring->bytes = result ? NULL : malloc(PERF_RING_MOST_RECORD_BYTES + 1);
    return result ? result : ring->bytes ? 0 : -ENOMEM;
}

void ring_close(struct ring *ring)
{
    perf_ring_close(&ring->ring);
    free(ring->bytes);
    ring->bytes = NULL;
}

/*
 * If a record's size is wrong, the next one cannot be found: everything there is now is given up.
 * The same if the kernel's position is impossible.
 */
static void give_up(struct ring_reading *reading, struct ring *ring)
{
    reading->broken++;
    ring->at = ring->head;
}

/* Finds the next record for a user, and handles the rings' own. */
static void find_next(struct ring_reading *reading, struct ring *ring)
{
    struct ring_record *next = &ring->next;
    char *record;

    for (ring->size = 0; ring->at != ring->head; ring->at += ring->size) {
        ring->size = perf_ring_find(&ring->ring, ring->at, ring->head, ring->bytes, &record);
        if (!ring->size) {
            give_up(reading, ring);
            return;
        }
        ring_record_parse(record, ring->size, &reading->shape, next);
        if (next->kind == RECORD_SAMPLE || next->kind == RECORD_TASK)
            return;
        *(ring->of_tasks ? &reading->tasks_lost : &reading->lost) += next->kind == RECORD_LOST ? next->lost : 0;
        reading->broken += next->kind == RECORD_BROKEN;
        if (next->kind == RECORD_THROTTLE)
            throttle_take(&ring->throttle, record, ring->size);
    }
    ring->size = 0;
}

/* What a record may need: that of a small ring is not as large as any may be. */
static size_t room_of(const struct perf_ring *ring)
{
    return ring->bytes / 2 < PERF_RING_MOST_RECORD_BYTES ? ring->bytes / 2 : PERF_RING_MOST_RECORD_BYTES;
}

static void look(struct ring_reading *reading, struct ring *ring)
{
    ring->head = perf_ring_head(&ring->ring);
    if (ring->head - ring->at > ring->ring.bytes)
        give_up(reading, ring);
    if (ring->head != ring->at)
        ring->was_full = ring->head - ring->at + room_of(&ring->ring) > ring->ring.bytes;
    if (!ring->size)
        find_next(reading, ring);
}

/* The ring with the earliest record, and up to which time its records come before the others'. */
static struct ring *earliest(const struct ring_reading *reading, uint64_t *until)
{
    struct ring *first = NULL;

    for (size_t i = 0; i < reading->count; i++) {
        struct ring *ring = &reading->rings[i];
        if (!ring->size)
            continue;
        const bool is_first = !first || ring->next.time < first->next.time;
        const uint64_t other = !is_first ? ring->next.time : first ? first->next.time : UINT64_MAX;
        *until = other < *until ? other : *until;
        first = is_first ? ring : first;
    }
    return first;
}

int rings_read(struct ring_reading *reading, uint64_t until, ring_take_record *take, void *context)
{
    struct ring *ring;
    uint64_t next = until;
    int result = 0;

    for (size_t i = 0; i < reading->count; i++)
        look(reading, &reading->rings[i]);
    while (!result && (ring = earliest(reading, &next)) && ring->next.time <= until) {
        do {
            reading->samples += ring->next.kind == RECORD_SAMPLE;
            result = take(context, &ring->next);
            ring->at += ring->size;
            find_next(reading, ring);
        } while (!result && ring->size && ring->next.time <= next);
        perf_ring_release(&ring->ring, ring->at);
        next = until;
    }
    for (size_t i = 0; i < reading->count; i++) /* including what was skipped */
        perf_ring_release(&reading->rings[i].ring, reading->rings[i].at);
    return result;
}
