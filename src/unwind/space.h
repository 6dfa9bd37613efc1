/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where tables are for programs: numbered blocks, in chunks that are made when needed, and freed
 * when empty.
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
    uint32_t *at[UNWIND_MOST_CHUNKS]; /* each where we write it; NULL: not mapped, or not there */
    int maps[UNWIND_MOST_CHUNKS];     /* for one that cannot be mapped; 0: none */
    uint64_t taken[UNWIND_MOST_CHUNKS], resting[UNWIND_MOST_CHUNKS]; /* a bit per block */
    uint32_t most, used; /* blocks; resting ones count as used */
    bool rests;
};

/*
 * At most `most` blocks, which are whole chunks; with `in_memory`, no program reads them. 0 or a
 * negative errno; space_close after either.
 */
int space_open(struct space *space, uint64_t most, bool in_memory);
void space_close(struct space *space);

/*
 * Writes blocks in a row: *first is the number of the first. 0, -ENOSPC: there is not enough room,
 * or another negative errno. Programs see them once they are told *first.
 */
int space_put(struct space *space, const uint32_t *words, size_t blocks, uint32_t *first);

/*
 * Programs are no longer told about these blocks. They can be reused after space_settle(), which
 * waits, if necessary, for programs that were told before. 0 or a negative errno.
 */
void space_rest(struct space *space, uint32_t first, size_t blocks);
int space_settle(struct space *space);

/* How many blocks are neither used nor resting. */
uint32_t space_left(const struct space *space);

/* For space.c and tests: takes room for `blocks` in a row, from *first on. 0 or -ENOSPC. */
int space_take(struct space *space, size_t blocks, uint32_t *first);

#endif
