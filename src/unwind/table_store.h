/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tables in the maps, by the kernel's keys: each has users, and goes with its last user. */
#ifndef STACKBOX_UNWIND_TABLE_STORE_H
#define STACKBOX_UNWIND_TABLE_STORE_H

#include "insns/unwind_layout.h"
#include "store/store.h"
#include "unwind/table.h"

#define SPACE_SPARES 5 /* chunks, at most */

/*
 * Room for tables: numbered blocks in chunks, which are made when needed and freed when empty. To
 * add a chunk takes some 20 ms, or 300 on a busy machine, as the kernel first waits for running
 * programs: so spare ones are kept.
 */
struct space {
    int chunks; /* the map of maps */
    struct grace grace;
    uint32_t *at[UNWIND_MOST_CHUNKS]; /* where each is mapped here; NULL: it is not */
    int maps[UNWIND_MOST_CHUNKS];     /* the map of a chunk that is not mapped here; 0: none */
    uint64_t taken[UNWIND_MOST_CHUNKS], resting[UNWIND_MOST_CHUNKS]; /* a bit per block */
    uint32_t most, used; /* blocks; resting ones count as used */
    bool rests;
};

/*
 * Holds at most `most` blocks, rounded up to whole chunks; with `in_memory`, no program reads them.
 * 0 or a negative errno; space_close after either.
 */
int space_open(struct space *space, uint64_t most, bool in_memory);
void space_close(struct space *space);

/*
 * space_lack_spares() reserves the missing spare chunks until space_take_spares(); a single one can
 * be missing, as adding it would take as long as adding several.
 * space_make_spares() waits, and touches only `spares`: others may use the space meanwhile.
 */
struct spares {
    int chunks; /* the map of maps */
    uint32_t first, count;
    int maps[SPACE_SPARES];
};
void space_lack_spares(struct space *space, struct spares *spares);
void space_make_spares(struct spares *spares);
void space_take_spares(struct space *space, const struct spares *spares);

/*
 * Writes consecutive blocks; *first is the number of the first. 0, -ENOSPC: there is not enough
 * room, or another negative errno. Programs see the blocks once they are told *first.
 */
int space_put(struct space *space, const uint32_t *words, size_t blocks, uint32_t *first);

/* Maps these blocks here, for reading by space->at. False: they cannot be mapped. */
bool space_map(struct space *space, uint32_t first, size_t blocks);

/*
 * space_rest: programs no longer find these blocks. They can be reused after space_settle(), which
 * waits, if necessary, for programs that found them before. 0 or a negative errno.
 */
void space_rest(struct space *space, uint32_t first, size_t blocks);
int space_settle(struct space *space);

/* How many blocks are neither used nor resting. */
uint32_t space_left(const struct space *space);

/* For tests: takes room for `blocks` in a row, from *first on. 0 or -ENOSPC. */
int space_take(struct space *space, size_t blocks, uint32_t *first);

struct stored_table {
    struct unwind_key key;
    size_t users; /* 0: there is no table */
    struct unwind_object object;
    uint32_t blocks;
    struct frame_counts counts;
    uint64_t size, time; /* of the file when it was read: a write changes them */
};

struct tables {
    struct space space;
    int map; /* of struct unwind_object, by key */
    int cache;
    uint32_t number; /* of the last table */
    struct stored_table *items;
    size_t count, room;
    uint64_t made, dropped; /* since the beginning */
};

/*
 * With `in_memory`, no program reads them. Includes the vDSO's, which is never dropped. 0 or a
 * negative errno; tables_close after either.
 */
int tables_open(struct tables *tables, uint64_t most_bytes, bool in_memory);
void tables_close(struct tables *tables);

/* NULL: there is none. Valid until the next tables_put(). */
struct stored_table *tables_find(const struct tables *tables, const struct unwind_key *key);

/*
 * Adds the table that `about` describes, replacing one with the same key, whose users *stored
 * keeps. 0, -ENOSPC: there is no room, or another negative errno.
 */
int tables_put(struct tables *tables, const struct stored_table *about, const struct table *table,
               struct stored_table **stored);

/*
 * What programs do for a key without a table (unwind_object.kind) until it has one; 0: they find
 * nothing.
 */
void tables_set_kind(struct tables *tables, const struct unwind_key *key, uint32_t kind);

/* One user fewer. */
void tables_leave(struct tables *tables, size_t number);

#endif
