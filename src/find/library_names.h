/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Files that a short name may mean, likeliest first. */
#ifndef STACKBOX_FIND_LIBRARY_NAMES_H
#define STACKBOX_FIND_LIBRARY_NAMES_H

#include <stddef.h>
#include <stdint.h>


/* What follows the last slash. */
const char *base_name(const char *path);
/* The length of a path in maps without " (deleted)". */
size_t length_without_deleted(const char *path);

/*
 * Is the file `name` what `typed` means? 0: no. The greater, the likelier: the whole name, then
 * lib*.so.VERSION, lib*.so, lib*-VERSION.so, and musl's linker, which is its C library, too.
 */
unsigned library_name_rank(const char *typed, const char *name);

struct library_candidate {
    const char *path;
    unsigned rank;
    int level; /* the processor level that it needs */
    uint64_t start, end, inode; /* where a process has it mapped, and the file's inode */
};

/* {.typed = name} is empty. */
struct library_candidates {
    const char *typed;
    struct library_candidate *items;
    size_t count, room;
};

/*
 * Adds `candidate`, with a copy of its path and its own rank, if it is meant by `name`, under which
 * it was found. 0 or -ENOMEM.
 */
int library_offer(struct library_candidates *candidates, const char *name,
                  const struct library_candidate *candidate);
/* Likeliest first: by rank, then the highest version, then the highest level. */
void library_sort(struct library_candidates *candidates);
/* Empties the list. */
void library_forget(struct library_candidates *candidates);

#endif
