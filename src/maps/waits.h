/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which threads wait, and since when: the map that the programs of insns/offwake.c maintain, and
 * how their counts get into a tally, with stacks that were taken some reports ago.
 */
#ifndef STACKBOX_MAPS_WAITS_H
#define STACKBOX_MAPS_WAITS_H

#include "insns/offwake.h"
#include "maps/stack_table.h"
#include "maps/store.h"

struct waits {
    struct store *store; /* without ids; keys of offwake_key_bytes, values of struct blocked */
    enum offwake_view view;
    uint64_t least, most; /* ns; applied to unfinished waits, too */
    bool unfinished;      /* such waits go into the last report */
    int map;              /* below 0: none */
    int rests;            /* of VIEW_WALL: entries as a report has to take them (insns/wall_parts.h) */
    uint32_t entries;
    bool for_all;         /* there is one for each thread that the machine may have */
    struct stack_table stacks;
    /* After the last report: who was still waiting, */
    uint64_t open;            /* how many in all: what the store's account lacks */
    uint64_t waiting, waited; /* how many within the limits, and the sum of these, ns */
    /* and the tids of all that were seen to block, in our pid namespace, sorted. */
    uint64_t *seen;
    size_t seen_count, seen_room;
};

/*
 * Creates the map in `waits`, whose fields down to `unfinished` are filled in. 0 or a negative
 * errno; waits_close after either.
 */
int waits_open(struct waits *waits);
void waits_close(struct waits *waits);

/* Of an entry of the map, and of what programs know about a wait. */
uint32_t waits_key_bytes(const struct waits *waits);
uint32_t waits_value_bytes(const struct waits *waits);

/* Roughly the kernel memory that it takes, with that of `rests`. */
uint64_t waits_bytes(const struct waits *waits);

/* Was the thread seen to block while tracing ran? After the last report. */
bool waits_has_seen(const struct waits *waits, uint32_t tid);

#endif
