/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The part of user_names that reads files, all of which may be hostile: it runs in the process
 * apart. Processes have been asked before.
 */
#ifndef STACKBOX_SYMBOLIZE_NAMING_H
#define STACKBOX_SYMBOLIZE_NAMING_H

#include "processes/process.h"
#include "symbolize/symbolize.h"

/* A symbol and where it is in its process. */
struct located {
    struct symbol *symbol;
    struct process_place place;
    size_t life; /* equal for one program of one process; these are adjacent */
    int map;     /* its JIT's perf map, open; or below 0 */
};

struct naming {
    const struct symbolize_wishes *wishes;
    struct symbolize_notes *notes;
    struct symbol_mappings *mappings; /* NULL: not wanted */
    struct located *located;          /* by process, life and lookup address */
    size_t count;
    uint64_t *addresses;          /* looked up together: room for one per symbol */
    struct process_place *places; /* likewise */
};

static inline bool naming_may_be_jitted(const struct located *located)
{
    return located->place.kind == MAPPED_ANONYMOUS || located->place.kind == MAPPED_NOTHING;
}

/* 0: they are in the same file, or neither is in one. */
int naming_compare_files(const struct located *a, const struct located *b);

/* Sets names, offsets and mappings of the symbols; changes their order. 0 or -ENOMEM. */
int naming_read(const struct naming *naming);

#endif
