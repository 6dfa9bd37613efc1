/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From a bank's maps to a tally. Part of the store. */
#ifndef STACKBOX_KERNEL_DRAIN_H
#define STACKBOX_KERNEL_DRAIN_H

#include "kernel/store.h"

/*
 * Adds all counts of a bank that no program writes to, with their stacks, and leaves it empty of
 * counts; drain_clear_stacks empties it of stacks. 0 or a negative errno.
 */
int drain_bank(struct store *store, const struct bank *bank, struct tally *tally,
               struct losses *losses);
int drain_clear_stacks(struct store *store, const struct bank *bank);

#endif
