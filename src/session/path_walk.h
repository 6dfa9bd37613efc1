/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where a command may be, in execvp(3)'s order. */
#ifndef STACKBOX_SESSION_PATH_WALK_H
#define STACKBOX_SESSION_PATH_WALK_H

#include <limits.h>
#include <stdbool.h>

struct path_walk {
    const char *name, *at; /* the rest of PATH; NULL: nothing */
    char path[PATH_MAX];
};

/* A name with a slash is used as it is. */
void path_walk_begin(struct path_walk *walk, const char *name);
/* The next place, valid until the next call; NULL: there are no more. */
const char *path_walk_next(struct path_walk *walk);

/* The path that a command's name leads to; the caller frees it. NULL: none. */
char *path_walk_find(const char *name);

/* Would execve(2) accept it? */
bool path_is_program(const char *path);

#endif
