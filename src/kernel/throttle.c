/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/throttle.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* What both records begin with. */
struct throttle_record {
    struct perf_event_header header;
    uint64_t time;
};

void throttle_open(struct throttle *throttle, int fd)
{
    *throttle = (struct throttle){.ring.fd = -1};
    (void)perf_ring_open(&throttle->ring, fd, THROTTLE_RING_BYTES);
}

void throttle_close(struct throttle *throttle)
{
    perf_ring_close(&throttle->ring);
}

/* A record lost between two is unknown: it counts as no throttling. */
void throttle_take(struct throttle *throttle, const char *record, size_t size)
{
    struct throttle_record begin;

    if (size < sizeof(begin))
        return;
    memcpy(&begin, record, sizeof(begin));
    if (begin.header.type == PERF_RECORD_THROTTLE) {
        throttle->since = begin.time;
        throttle->times++;
    } else if (begin.header.type == PERF_RECORD_UNTHROTTLE) {
        if (throttle->since && begin.time > throttle->since)
            throttle->stopped += begin.time - throttle->since;
        throttle->since = 0;
    }
}

void throttle_read(struct throttle *throttle)
{
    uint64_t head = throttle->ring.page ? perf_ring_head(&throttle->ring) : throttle->read_to;
    char *record = head != throttle->read_to ? malloc(PERF_RING_MOST_RECORD_BYTES) : NULL;
    size_t size;

    while (record && (size = perf_ring_copy(&throttle->ring, throttle->read_to, head, record))) {
        throttle_take(throttle, record, size);
        throttle->read_to += size;
    }
    free(record);
    if (throttle->ring.page)
        perf_ring_release(&throttle->ring, throttle->read_to);
}

uint64_t throttle_stopped(const struct throttle *throttle)
{
    uint64_t now = throttle->since ? now_ns() : 0;

    return throttle->stopped + (now > throttle->since ? now - throttle->since : 0);
}
