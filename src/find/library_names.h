/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Files that may be the library which a short name means, the likeliest first. */
#ifndef STACKBOX_FIND_LIBRARY_NAMES_H
#define STACKBOX_FIND_LIBRARY_NAMES_H

#include <stddef.h>
#include <stdint.h>


/* What is behind the last slash. */
const char *base_name(const char *path);
/* How long a path of maps is without what says that the file is gone. */
size_t length_without_deleted(const char *path);

/*
 * Is the file `name` what `typed` means? 0: no. The greater the likelier: its whole name, then
 * lib*.so.VERSION, lib*.so, lib*-VERSION.so, and musl's linker, which is its C library too.
 */
unsigned library_name_rank(const char *typed, const char *name);

struct library_candidate {
    const char *path;
    unsigned rank;
    int level; /* of what it asks of the processor */
    uint64_t start, end, inode; /* where a process has it mapped, and which file that is */
};

/* {.typed = name} is empty. */
struct library_candidates {
    const char *typed;
    struct library_candidate *items;
    size_t count, room;
};

/*
 * Adds `candidate`, with a copy of its path and a rank of its own, if `name`, which it was found by,
 * is meant. 0 or -ENOMEM.
 */
int library_offer(struct library_candidates *candidates, const char *name,
                  const struct library_candidate *candidate);
/* Into the order of likelihood: by rank, then the highest version, then the highest level. */
void library_sort(struct library_candidates *candidates);
/* Leaves none. */
void library_forget(struct library_candidates *candidates);

#endif
