/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where tables are, as programs find them: blocks by their numbers, in chunks that are made when they are
 * needed, and go when nothing is in them.
 */
#ifndef STACKBOX_UNWIND_SPACE_H
#define STACKBOX_UNWIND_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "insns/unwind_layout.h"
#include "maps/grace.h"

struct space {
    int chunks; /* the map of maps */
    struct grace grace;
    uint32_t *at[UNWIND_MOST_CHUNKS]; /* each where we write it; NULL: it cannot be mapped, or is not there */
    int maps[UNWIND_MOST_CHUNKS];     /* one that cannot be mapped; 0: none */
    uint64_t taken[UNWIND_MOST_CHUNKS], resting[UNWIND_MOST_CHUNKS]; /* a bit for each block; rests: taken, too */
    uint32_t most, used; /* blocks; those that rest are used */
    bool rests;
};

/* So many blocks at most, which are whole chunks; `in_memory` no program reads them. 0 or a negative errno; space_close after either. */
int space_open(struct space *space, uint64_t most, bool in_memory);
void space_close(struct space *space);

/*
 * Puts blocks one behind the other: *first is the number of the first. 0, -ENOSPC: there is no room for so
 * many, or another negative errno. *first and what is there are for programs once they are told.
 */
int space_put(struct space *space, const uint32_t *words, size_t blocks, uint32_t *first);

/*
 * Nobody tells programs of these blocks any more. They are used again from space_settle() on, which waits for
 * programs that were told before, where there is anything to wait for. 0 or a negative errno.
 */
void space_rest(struct space *space, uint32_t first, size_t blocks);
int space_settle(struct space *space);

/* How many blocks are neither used nor rest. */
uint32_t space_left(const struct space *space);

/* Parts of it: room for so many blocks in a row, from *first on, taken. 0 or -ENOSPC. */
int space_take(struct space *space, size_t blocks, uint32_t *first);

#endif
