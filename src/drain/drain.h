/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From a bank's maps to a tally. Part of the store. */
#ifndef STACKBOX_DRAIN_DRAIN_H
#define STACKBOX_DRAIN_DRAIN_H

#include "kernel/bpf.h"
#include "maps/store.h"

/*
 * Adds all counts of a bank that no program writes to, with their stacks, and leaves it empty of
 * counts; drain_clear_stacks empties it of stacks. 0 or a negative errno.
 */
int drain_bank(struct store *store, const struct bank *bank, struct tally *tally,
               struct losses *losses);
/* Takes all stacks out of it, by their words: a struct spilled_stack each. */
int drain_stacks(const struct store *store, const struct bank *bank, bpf_take *take, void *context);
int drain_clear_stacks(struct store *store, const struct bank *bank);

#endif
