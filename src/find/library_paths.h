/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where libraries are: /etc/ld.so.cache, which the dynamic linker reads, and paths below a root. */
#ifndef STACKBOX_FIND_LIBRARY_PATHS_H
#define STACKBOX_FIND_LIBRARY_PATHS_H

#include <stdint.h>

#include "base/text.h"

/* `special`: for certain processors only. */
struct link_cache_entry {
    const char *name, *path;
    bool special;
};
/* 0 goes on; anything else ends the walk and is returned. */
typedef int link_cache_callback(void *context, const struct link_cache_entry *entry);

/*
 * Calls `each` for the entries in `bytes`, the file's contents: the old format, the new one, or the
 * old one followed by the new one (then only the new one), in either byte order. Entries that point
 * outside are skipped. 0, -ENOEXEC for any other file, or what `each` returned.
 */
int link_cache_each(const char *bytes, size_t length, link_cache_callback *each, void *context);

enum root_way {
    ROOT_FILE = 1,  /* a regular file, as policy_open() does */
    ROOT_DIRECTORY,
};

/*
 * Opens for reading, through the opener if we are the sandbox. `resolved` becomes the path as
 * it is in `root`, without links, "." and "..", and without the root itself. A relative path starts
 * at the root, or, if that is ours, at our current directory. A descriptor or a negative errno.
 */
int root_take(enum root_way way, const char *root, const char *path, struct text *resolved);

/* In this process: an sandbox_opener. */
int root_take_here(unsigned way, const char *root, const char *path, struct text *resolved);

/*
 * The prefix for a process's root: "" if it sees what we see, or if we may not look, otherwise
 * /proc/PID/root. 0 or -ENOMEM.
 */
int root_of_process(uint32_t pid, struct text *root);

#endif
