/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where files of programs may be: nothing else is opened for the reader. */
#ifndef STACKBOX_SANDBOX_PLACES_H
#define STACKBOX_SANDBOX_PLACES_H

#include <stdbool.h>

#include "base/text.h"

/*
 * May what this descriptor (O_PATH, too) refers to be a program's file? Not in a file system that
 * is an interface of the kernel, such as procfs: a file there may be another process's memory. What
 * was opened *through* one (/proc/PID/exe) is elsewhere and judged by that.
 */
bool policy_allows(int fd);

/*
 * Opens a regular file of others for reading, by a path from here, or below `root` if that is not
 * "" (see_below(), which also says what *resolved is). A descriptor, which the caller closes, or a
 * negative errno: -EISDIR for a directory, -EINVAL for anything else that is not a regular file,
 * and for places where no programs are.
 */
int policy_open(const char *root, const char *path, struct text *resolved);

#endif
