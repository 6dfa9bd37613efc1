/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Opening files that are mapped, and making sure that they are. Part of mapped_files. */
#ifndef STACKBOX_PROCESSES_MAPPED_OPEN_H
#define STACKBOX_PROCESSES_MAPPED_OPEN_H

#include <sys/stat.h>

#include "processes/mapped_files.h"

/*
 * Opens a plain file for reading, and nothing else: what opening does to a device is not known.
 * What is looked at is what is opened. `flags`: 0 or O_NOFOLLOW. A descriptor, -ENODEV for what is
 * no plain file, or another negative errno.
 */
int mapped_open_plain(const char *path, int flags, struct stat *about);

/*
 * Opens what is mapped: by the mapping itself, which also holds when the file was deleted; else by
 * its path as the process sees it, or its parent does where it is gone, or we do. *root: whose root
 * that was. A descriptor or a negative errno.
 */
int mapped_open(const struct mapped_sight *sight, uint32_t *root, struct stat *about);

/* By its path below this directory alone. */
int mapped_open_below(const char *root, const struct mapped_sight *sight, struct stat *about);

/* A time of a file in ns. */
uint64_t mapped_file_time(const struct timespec *time);

/* Written to after it was mapped, and before it was opened? */
bool mapped_changed_before(const struct stat *about, const struct mapped_sight *sight);

#endif
