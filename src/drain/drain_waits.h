/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counts of waits: from the maps to a tally, with stacks that were taken reports ago. */
#ifndef STACKBOX_DRAIN_DRAIN_WAITS_H
#define STACKBOX_DRAIN_DRAIN_WAITS_H

#include "drain/drain.h"
#include "maps/waits.h"

/* What is taken of the map of waits and its counts, and where to. */
struct waits_taking {
    struct waits *waits;
    struct tally *tally;
    struct losses *losses;
    uint64_t now; /* of the report */
};

/* A party with its stacks, of so many events. 0 or -ENOMEM. */
int waits_take_party(const struct waits_taking *taking, const struct party *party, uint64_t events,
                     struct tally_party *to);
/* For bpf_drain of stacks, `context` being a struct waits_taking. */
int waits_take_stack(void *context, const void *key, const void *value);
/* The thread with that number was seen. 0 or -ENOMEM. */
int waits_note_seen(struct waits *waits, uint32_t tid);

/* As drain_counts. The last time (not `again`) waits that have not ended are looked at, too. */
int drain_waits(struct waits *waits, bool again, struct tally *tally, struct losses *losses);

#endif
