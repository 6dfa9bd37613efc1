/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where a command may be, as execvp(3) looks for it. */
#ifndef STACKBOX_SESSION_PATH_WALK_H
#define STACKBOX_SESSION_PATH_WALK_H

#include <limits.h>
#include <stdbool.h>

struct path_walk {
    const char *name, *at; /* what is left of PATH; NULL: nothing */
    char path[PATH_MAX];
};

/* One with a slash is where it says, and nowhere else. */
void path_walk_begin(struct path_walk *walk, const char *name);
/* The next place, good until the next call; NULL: there is none left. */
const char *path_walk_next(struct path_walk *walk);

/* The file that a command's name leads to, whole; the caller's to free. NULL: nowhere. */
char *path_walk_find(const char *name);

/* What execve(2) would take. */
bool path_is_program(const char *path);

#endif
