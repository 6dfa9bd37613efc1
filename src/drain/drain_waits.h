/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counts of waits: from the maps to a tally, with stacks that were taken some reports ago. */
#ifndef STACKBOX_DRAIN_DRAIN_WAITS_H
#define STACKBOX_DRAIN_DRAIN_WAITS_H

#include "drain/drain.h"
#include "maps/waits.h"

/* From which maps of waits and counts, and where to. */
struct waits_taking {
    struct waits *waits;
    struct tally *tally;
    struct losses *losses;
    uint64_t now; /* of the report */
};

/* A party with its stacks, for that many events. 0 or -ENOMEM. */
int waits_take_party(const struct waits_taking *taking, const struct party *party, uint64_t events,
                     struct tally_party *to);
/* For bpf_drain of stacks; `context` is a struct waits_taking. */
int waits_take_stack(void *context, const void *key, const void *value);
/* Notes that this thread was seen. 0 or -ENOMEM. */
int waits_note_seen(struct waits *waits, uint32_t tid);

/* As drain_counts. The last time (without `again`) unfinished waits are included. */
int drain_waits(struct waits *waits, bool again, struct tally *tally, struct losses *losses);

#endif
