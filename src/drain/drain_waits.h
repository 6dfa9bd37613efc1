/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counts of waits: from the maps to a tally, with stacks that were taken reports ago. */
#ifndef STACKBOX_DRAIN_DRAIN_WAITS_H
#define STACKBOX_DRAIN_DRAIN_WAITS_H

#include "drain/drain.h"
#include "maps/waits.h"

/* As drain_counts. The last time (not `again`) waits that have not ended are looked at, too. */
int drain_waits(struct waits *waits, bool again, struct tally *tally, struct losses *losses);

#endif
