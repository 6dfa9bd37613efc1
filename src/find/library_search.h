/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the ways to a library share: see library.h. */
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

/* A file, as a path of the root leads to it. 1: it is the library now; else a negative errno. */
int library_take_file(struct library_search *search, const char *root, const char *path);

/*
 * Of what the process has mapped, the likeliest by its name; or by a path, if it was deleted: what
 * is there now is another file. Of a process that is gone or not ours to look at nothing is known.
 * 1: it is the library now; 0: there is none; else a negative errno, with a line in `error` for one
 * that cannot be opened.
 */
int library_find_mapped(struct library_search *search);

#endif
