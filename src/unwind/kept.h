/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tables in the maps, by the kernel's keys: each has users, and goes with its last user. */
#ifndef STACKBOX_UNWIND_KEPT_H
#define STACKBOX_UNWIND_KEPT_H

#include "unwind/space.h"
#include "unwind/table.h"

struct kept {
    struct unwind_key key;
    size_t users; /* 0: there is no table */
    struct unwind_object object;
    uint32_t blocks;
    uint64_t rows;
    uint64_t size, time; /* of the file when it was read: if it is written to, they change */
};

struct tables {
    struct space space;
    int map; /* of struct unwind_object, by key */
    int cache;
    uint32_t number; /* of the last table */
    struct kept *items;
    size_t count, room;
    uint64_t made, dropped; /* since the beginning */
};

/*
 * With `in_memory`, no program reads them. Includes the vDSO's, which is never dropped. 0 or a
 * negative errno; tables_close after either.
 */
int tables_open(struct tables *tables, uint64_t most_bytes, bool in_memory);
void tables_close(struct tables *tables);

/* NULL: there is none. Valid until the next tables_put. */
struct kept *tables_find(const struct tables *tables, const struct unwind_key *key);

/*
 * Adds a table as described by `about`, replacing one with the same key. *kept has as many users as
 * before. 0, -ENOSPC: there is no room, or another negative errno.
 */
int tables_put(struct tables *tables, const struct kept *about, const struct table *table, struct kept **kept);

/*
 * What programs do for a key without a table, as in unwind_object.kind, until there is one; 0: they
 * are told nothing.
 */
void tables_tell_kind(struct tables *tables, const struct unwind_key *key, uint32_t kind);

/* One user fewer. */
void tables_leave(struct tables *tables, size_t number);

#endif
