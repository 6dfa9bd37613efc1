/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counts equal samples: entries of a tally, found by their parties and stacks. */
#ifndef STACKBOX_RINGS_RING_TABLE_H
#define STACKBOX_RINGS_RING_TABLE_H

#include <stdbool.h>

#include "base/index.h"
#include "tally/tally.h"

struct ring_stack {
    const uint64_t *frames; /* leaf first */
    size_t count;
};

/* A thread with its stacks, as counted: the stacks in `who` are unused. */
struct ring_party {
    struct tally_party who;
    struct ring_stack kernel, user;
    uint64_t caller; /* at a function's first instruction: where it returns to; else 0 */
    uint64_t flags;  /* of a key (insns/layout.h), belonging to that */
};

struct ring_key {
    struct ring_party task;
    const struct ring_party *waker; /* or NULL */
};

struct ring_table {
    struct tally tally;
    struct index index;
    uint64_t *callers, *flags; /* of each entry, as in its task */
    size_t callers_room, flags_room;
    size_t most;     /* entries */
    uint64_t full, full_value; /* events without room, and their values' sum */
};

/* Counts an event with that value. 0 or -ENOMEM. */
int ring_table_add(struct ring_table *table, const struct ring_key *key, uint64_t value);
/* Adds an entry with that mark of its own, straight to a tally. 0 or -ENOMEM. */
int ring_table_put(struct tally *tally, const struct ring_key *key, uint64_t value, enum tally_mark mark);
/* Moves everything to the tally. 0 or -ENOMEM. */
int ring_table_move(struct ring_table *table, struct tally *to);
void ring_table_free(struct ring_table *table);

#endif
