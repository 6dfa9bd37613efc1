/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Shared by the ways of finding a library: see library.h. */
#ifndef STACKBOX_FIND_LIBRARY_SEARCH_H
#define STACKBOX_FIND_LIBRARY_SEARCH_H

#include "find/library.h"
#include "find/library_names.h"

struct library_search {
    const struct library_where *where;
    const char *typed;
    struct library_candidates candidates;
    struct library *library;
    struct text *error;
};

/* A file by a path in the root. 1: it is the library now; otherwise a negative errno. */
int library_take_file(struct library_search *search, const char *root, const char *path);

/*
 * The likeliest, by name, of what the process has mapped; or by path, if that was deleted: the path
 * may lead to another file now. If a process is gone or we may not look at it, nothing is known. 1:
 * it is the library now; 0: there is none; otherwise a negative errno, with a line in `error` for
 * one that cannot be opened.
 */
int library_find_mapped(struct library_search *search);

#endif
