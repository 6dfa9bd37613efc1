/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Single events, from perf's rings. */
#ifndef STACKBOX_RINGS_RING_SNOOPS_H
#define STACKBOX_RINGS_RING_SNOOPS_H

#include "rings/ring_source.h"

struct ring_snoops {
    struct collector collector;
    struct ring_source source; /* attach with ring_source_add() */
    struct snoop_record *record;
    collector_take *take; /* of the current reading */
    void *taking;
    int taken;
    bool has_stopped;
};

void ring_snoops_init(struct ring_snoops *snoops, const struct ring_wishes *wishes);

#endif
