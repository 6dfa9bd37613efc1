/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counts of what is alike: entries of a tally, found by their parties and stacks. */
#ifndef STACKBOX_RINGS_RING_TABLE_H
#define STACKBOX_RINGS_RING_TABLE_H

#include <stdbool.h>

#include "base/index.h"
#include "tally/tally.h"

struct ring_stack {
    const uint64_t *frames; /* leaf first */
    size_t count;
};

/* A thread with its stacks, as it is to be counted: the stacks of `who` say nothing. */
struct ring_party {
    struct tally_party who;
    struct ring_stack kernel, user;
    uint64_t caller; /* at the first instruction of a function: where it returns to; else 0 */
    uint64_t flags;  /* of a key (insns/layout.h), which go with that */
};

struct ring_key {
    struct ring_party task;
    const struct ring_party *waker; /* or NULL */
};

struct ring_table {
    struct tally tally;
    struct index index;
    uint64_t *callers, *flags; /* of each entry, as its task has them */
    size_t callers_room, flags_room;
    size_t most;     /* entries */
    uint64_t full, full_value; /* events there was no room for, and what they come to */
};

/* Counts an event of that value. 0 or -ENOMEM. */
int ring_table_add(struct ring_table *table, const struct ring_key *key, uint64_t value);
/* An entry of that kind and its own, straight into a tally. 0 or -ENOMEM. */
int ring_table_put(struct tally *tally, const struct ring_key *key, uint64_t value, enum tally_mark mark);
/* Adds all to the tally, and is empty. 0 or -ENOMEM. */
int ring_table_move(struct ring_table *table, struct tally *to);
void ring_table_free(struct ring_table *table);

#endif
