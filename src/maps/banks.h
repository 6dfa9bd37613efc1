/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The maps of a store's banks, and larger ones in their places. Part of the store. */
#ifndef STACKBOX_MAPS_BANKS_H
#define STACKBOX_MAPS_BANKS_H

#include "maps/store.h"

/* The first main bank, as large as is wanted. A stand-in waits until it is needed. 0 or a negative errno. */
int banks_open(struct store *store);
void banks_close(struct store *store);

/*
 * Makes a bank that no program counts into as large as is wanted; it holds no counts. Where there is
 * not the memory for that it stays as it is, and nothing grows any more; but without any stand-in there
 * is no report: a negative errno.
 */
int banks_enlarge(struct store *store, struct bank *bank);

#endif
