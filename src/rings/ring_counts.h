/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counts of stacks, made here from perf's rings: without any program. */
#ifndef STACKBOX_RINGS_RING_COUNTS_H
#define STACKBOX_RINGS_RING_COUNTS_H

#include "rings/ring_callers.h"
#include "rings/ring_source.h"

struct ring_counts {
    struct collector collector;
    struct ring_source source; /* attach with ring_source_add() */
    struct ring_table table;
    struct ring_callers callers;
    uint64_t table_full; /* events, since the beginning */
};

/* The wishes may still be changed until the collector is opened. */
void ring_counts_init(struct ring_counts *counts, const struct ring_wishes *wishes);

/* How many entries there may be between two looks, for this many stacks; 0: by free memory. */
size_t ring_counts_most(uint64_t stacks);

#endif
