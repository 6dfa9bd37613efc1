/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Opening files of others: first with O_PATH, which has no effect and never waits. fstat() of that
 * descriptor decides whether the file is opened for reading, and the same inode is opened then.
 */
#ifndef STACKBOX_BASE_OPENING_H
#define STACKBOX_BASE_OPENING_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/text.h"

bool same_file(const struct stat *one, const struct stat *other);

/*
 * Walks a path that begins at `root`, as a process with that root would: no link leads out of it,
 * whatever is renamed meanwhile. *resolved: the path without links, "." and "..", and without the
 * root. An O_PATH descriptor, which the caller closes, or a negative errno.
 */
int see_below(const char *root, const char *path, struct text *resolved);

/*
 * Opens for reading what `seen` (O_PATH) refers to, if it is a regular file. *about: its stat.
 * `path` leads to it, for machines without /proc. A descriptor, -ENODEV for anything but a regular
 * file, or another negative errno. `seen` stays the caller's. If `path` is NULL, nothing is opened:
 * a regular file gives `seen` itself.
 */
int open_seen(int seen, const char *path, struct stat *about);

/*
 * Opens a regular file for reading, and nothing else. `flags`: 0, O_NOFOLLOW, or O_PATH, which only
 * finds it: the file system is not asked, not even by close(2). As open_seen().
 */
int open_regular(const char *path, int flags, struct stat *about);

/*
 * Sends an open descriptor to another process over a local socket. `fd` may be a negative errno,
 * which the other end then gets. 0 or a negative errno.
 */
int pass_fd(int socket, int fd);

/*
 * The descriptor, close-on-exec, or the negative errno that was sent instead; -EPIPE: the other end
 * is gone or sent something else.
 */
int take_fd(int socket);

#endif
