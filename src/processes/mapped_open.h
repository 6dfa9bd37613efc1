/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Opening mapped files, and making sure that they are the right ones. Part of mapped_files. */
#ifndef STACKBOX_PROCESSES_MAPPED_OPEN_H
#define STACKBOX_PROCESSES_MAPPED_OPEN_H

#include <sys/stat.h>

#include "processes/mapped_files.h"

/*
 * Opens what is mapped: through the mapping itself, which works even if the file was deleted; or
 * else by its path as the process sees it, or its parent if it is gone, or we do. *root: whose root
 * that was. A descriptor or a negative errno.
 */
int mapped_open(const struct mapped_sight *sight, uint32_t *root, struct stat *about);

/* Only by its path, below this directory. */
int mapped_open_below(const char *root, const struct mapped_sight *sight, struct stat *about);

/* A file's time in ns. */
uint64_t mapped_file_time(const struct timespec *time);

/* Was it written to after it was mapped and before it was opened? */
bool mapped_changed_before(const struct stat *about, const struct mapped_sight *sight);

#endif
