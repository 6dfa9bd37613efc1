/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* /etc/ld.so.cache: which libraries the C library's dynamic linker knows, and where they are. */
#ifndef STACKBOX_FIND_LINK_CACHE_H
#define STACKBOX_FIND_LINK_CACHE_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
