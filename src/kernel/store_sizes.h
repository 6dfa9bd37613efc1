/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How large the maps of a store are. Part of the store. */
#ifndef STACKBOX_KERNEL_STORE_SIZES_H
#define STACKBOX_KERNEL_STORE_SIZES_H

#include "kernel/store.h"

#define LEAST_STACKS 64

/* Sizes for so many stacks: of the banks, and of the map of ids. */
void store_set_sizes(struct store *store, uint64_t stacks, const struct store_wishes *wishes);

/*
 * The same as was wished, else as this machine asks for and a quarter of its free memory allows.
 * Returns how many stacks it is.
 */
uint64_t store_first_sizes(struct store *store, const struct store_wishes *wishes);

#endif
