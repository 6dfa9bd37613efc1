/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How large the maps of a store are. Part of the store. */
#ifndef STACKBOX_MAPS_STORE_SIZES_H
#define STACKBOX_MAPS_STORE_SIZES_H

#include "kernel/bpf.h"
#include "maps/store.h"

#define LEAST_STACKS 64

/* Sets the sizes wanted for this many stacks: of the banks, and of the map of ids. */
void store_set_sizes(struct store *store, uint64_t stacks, const struct store_wishes *wishes);

/*
 * The same for the size asked for, or else for what suits this machine and a quarter of its free
 * memory allows. Returns how many stacks.
 */
uint64_t store_first_sizes(struct store *store, const struct store_wishes *wishes);

/* The shape of a bank's map with this many entries. */
struct bpf_map_shape store_map_shape(const struct store *store, enum bank_map map,
                                     uint32_t entries);

/* How many entries of each map are new in `now`, since `before`. */
void store_new_entries(const struct account *now, const struct account *before,
                       uint64_t entries[BANK_MAPS]);

/* After this many new ones between two looks: sets whether more is wanted from now on. */
void store_want(struct store *store, const uint64_t entries[BANK_MAPS]);

#endif
