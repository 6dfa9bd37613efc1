/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Paths as seen from a root directory: /proc/PID/root of a process in a container, or our own ("").
 * Its files are somebody else's: none of their links leads out of it.
 */
#ifndef STACKBOX_FIND_ROOT_PATH_H
#define STACKBOX_FIND_ROOT_PATH_H

#include <stdint.h>

#include "base/text.h"

enum root_way {
    ROOT_FILE = 1,  /* a regular file, as place_open() does */
    ROOT_DIRECTORY,
};

/*
 * Opens for reading, through the opener if we are the process apart. `resolved` becomes the path as
 * it is in `root`, without links, "." and "..", and without the root itself. A relative path starts
 * at the root, or, if that is ours, at our current directory. A descriptor or a negative errno.
 */
int root_take(enum root_way way, const char *root, const char *path, struct text *resolved);
/* In this process: an apart_opener. */
int root_take_here(unsigned way, const char *root, const char *path, struct text *resolved);

/*
 * The prefix for a process's root: "" if it sees what we see, or if we may not look, otherwise
 * /proc/PID/root. 0 or -ENOMEM.
 */
int root_of_process(uint32_t pid, struct text *root);

#endif
