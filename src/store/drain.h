/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reports: from the maps that count to a tally. */
#ifndef STACKBOX_STORE_DRAIN_H
#define STACKBOX_STORE_DRAIN_H

#include "kernel/bpf.h"
#include "store/store.h"
#include "tally/tally.h"

/* What a drain could not deliver, by cause; all are events. */
struct drain_losses {
    uint64_t stacks_lost; /* counted without their stack, for lack of room */
    uint64_t walks_failed; /* likewise, because the kernel could not walk the user stack */
};

/*
 * Ends the current report and drains it into `tally` and `losses` (both are added to). With `again`
 * the next report starts at the same instant; otherwise counting ends there. 0 or a negative errno.
 */
int drain_counts(struct store *store, bool again, struct tally *tally, struct drain_losses *losses);

/* Takes all stacks out of a bank, by their words: a struct spilled_stack each. */
int drain_stacks(const struct store *store, const struct bank *bank, bpf_take *take, void *context);

/* Adds an entry for events that no count has: the table was full. 0 or -ENOMEM. */
int drain_uncounted(struct tally *tally, uint64_t events, uint64_t value);

#endif
