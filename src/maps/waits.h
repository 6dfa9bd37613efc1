/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Who waits, and since when: the map that the programs of insns/offwake.c keep, and how their counts
 * come into a tally, with stacks that were taken reports ago.
 */
#ifndef STACKBOX_MAPS_WAITS_H
#define STACKBOX_MAPS_WAITS_H

#include "insns/offwake.h"
#include "maps/stack_table.h"
#include "maps/store.h"

struct waits {
    struct store *store; /* without ids, with the bytes of offwake_key_bytes and struct blocked */
    enum offwake_view view;
    uint64_t least, most; /* ns, of a wait that had not ended, too */
    bool unfinished;      /* such waits go into the last report */
    int map;              /* below 0: none */
    uint32_t entries;
    struct stack_table stacks;
    /* After the last report: who still waited, */
    uint64_t open;            /* how many in all: what is missing in the store's account */
    uint64_t waiting, waited; /* how many of a time that was asked for, and the sum of these, ns */
    /* and the tids of all whose blocking was seen, of the caller's pid namespace, sorted. */
    uint64_t *seen;
    size_t seen_count, seen_room;
};

/*
 * Creates the map in `waits`, of which the rows down to `unfinished` are filled in. 0 or a negative
 * errno; waits_close after either.
 */
int waits_open(struct waits *waits);
void waits_close(struct waits *waits);

/* Of an entry of the map: what programs know of a wait. */
uint32_t waits_value_bytes(const struct waits *waits);

/* About what the map takes of the kernel's memory. */
uint64_t waits_bytes(const struct waits *waits);

/* Did the thread block while tracing ran? After the last report. */
bool waits_has_seen(const struct waits *waits, uint32_t tid);

#endif
