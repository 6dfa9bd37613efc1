/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The part of user_names that reads what is in files, all of which may be hostile: it runs in the
 * process apart. What is asked of processes was asked before.
 */
#ifndef STACKBOX_SYMBOLIZE_NAMING_H
#define STACKBOX_SYMBOLIZE_NAMING_H

#include "processes/process.h"
#include "symbolize/symbolize.h"

/* A symbol and where in its process it is. */
struct located {
    struct symbol *symbol;
    struct process_place place;
    size_t life; /* equal for those of one program of one process, which follow each other */
    int map;     /* what its just-in-time compiler wrote, open; or below 0 */
};

struct naming {
    const struct symbolize_wishes *wishes;
    struct symbolize_notes *notes;
    struct symbol_mappings *mappings; /* NULL: nobody wants them */
    struct located *located;          /* by process, life and the address that is looked up */
    size_t count;
    uint64_t *addresses;          /* that are looked up at a time: room for one of each symbol */
    struct process_place *places; /* likewise */
};

static inline bool naming_may_be_jitted(const struct located *located)
{
    return located->place.kind == MAPPED_ANONYMOUS || located->place.kind == MAPPED_NOTHING;
}

/* 0: they are in the same file, or both in none. */
int naming_compare_files(const struct located *a, const struct located *b);

/* Gives names, offsets and mappings to the symbols; sorts them otherwise. 0 or -ENOMEM. */
int naming_read(const struct naming *naming);

#endif
