/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Paths as they are seen from a root directory: /proc/PID/root of a process in a container, or our
 * own (""). Its files are somebody else's: no link of theirs leads out of it.
 */
#ifndef STACKBOX_FIND_ROOT_PATH_H
#define STACKBOX_FIND_ROOT_PATH_H

#include <stdint.h>

#include "base/text.h"

/*
 * Replaces `resolved` by `path` as it is in `root`, without links, "." and ".."; the root itself is
 * not part of it. A relative path is one of the root, or of our current directory where that is
 * ours. 0 or a negative errno.
 */
int root_resolve(const char *root, const char *path, struct text *resolved);

/*
 * Opens a regular file by a path that root_resolve() gave, for reading. A descriptor, which the
 * caller closes, or a negative errno: -EISDIR for a directory, -EINVAL for other things,
 * and for what lies where programs have no files (apart_places.h).
 */
int root_open(const char *root, const char *resolved);

enum root_way {
    ROOT_FILE = 1,  /* a path that is resolved first: a regular file, as root_open() opens it */
    ROOT_DIRECTORY, /* the same: a directory */
};

/*
 * Resolves and opens in one: by the opener, where we are the process apart. `resolved` is as
 * root_resolve() gives it. A descriptor or a negative errno.
 */
int root_take(enum root_way way, const char *root, const char *path, struct text *resolved);
/* By us: an apart_opener. */
int root_take_here(unsigned way, const char *root, const char *path, struct text *resolved);

/*
 * What /proc/PID/root is called here: "" where a process sees what we see, or where we may not
 * look. 0 or -ENOMEM.
 */
int root_of_process(uint32_t pid, struct text *root);

#endif
