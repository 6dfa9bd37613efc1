/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The maps of a store's banks, and their larger replacements. Part of the store. */
#ifndef STACKBOX_MAPS_BANKS_H
#define STACKBOX_MAPS_BANKS_H

#include "maps/store.h"

/*
 * Makes the first main bank, as large as wanted. The stand-in is made when needed. 0 or a negative
 * errno.
 */
int banks_open(struct store *store);
void banks_close(struct store *store);

/*
 * Enlarges a bank that no program counts into, and that is empty, to the size wanted. Without
 * memory for that it stays as it is and nothing grows any more; but without any stand-in there can
 * be no report: a negative errno.
 */
int banks_enlarge(struct store *store, struct bank *bank);

#endif
