/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From a short name of a library or program to its file. */
#ifndef STACKBOX_FIND_LIBRARY_H
#define STACKBOX_FIND_LIBRARY_H

#include <stdbool.h>

#include "base/text.h"
#include "find/library_seen.h"

struct library_where {
    const char *root; /* whose files: "" for ours, or from root_of_process() */
    uint32_t pid;     /* whose libraries come first; 0: nobody's */
    const struct library_seen *seen; /* of that process; NULL: look now */
};

struct library {
    int fd;           /* open for reading */
    struct text file; /* a path that opens from here */
    struct text path; /* as seen in the root */
    struct text asked; /* the path by which it was opened */
    bool is_ours;      /* that is from here, although the search is in another root */
    size_t mapping;    /* it was opened through this of what was seen, from 1 on; 0: by path */
};

/*
 * `c`, `ssl`, `libc.so.6`, `bash`, `/path/to/it`, `./it`. A name with a slash is a path: in the
 * root, or else from here. Other names are looked for in this order: what the process has mapped, a
 * library where the dynamic linker finds it (the highest version of several, 64-bit before 32-bit),
 * a program in PATH, a file in the current directory. A file found by path or in PATH may be
 * anything; the others are ELF files of this machine. 0, or a negative errno with one line in
 * `error`. library_close after 0.
 */
int library_find(const struct library_where *where, const char *typed, struct library *library,
                 struct text *error);
void library_close(struct library *library);

#endif
