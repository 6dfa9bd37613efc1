/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* /etc/ld.so.cache: which libraries the dynamic linker of the C library knows, and where. */
#ifndef STACKBOX_FIND_LINK_CACHE_H
#define STACKBOX_FIND_LINK_CACHE_H

#include <stdbool.h>
#include <stddef.h>

/* `special`: only for some processors, by what the kernel or the CPU says of itself. */
struct link_cache_entry {
    const char *name, *path;
    bool special;
};
/* 0 goes on; anything else ends the walk, which returns it. */
typedef int link_cache_callback(void *context, const struct link_cache_entry *entry);

/*
 * Calls `each` for the entries in `bytes`, the contents of the file: the old format, the new one, or
 * the old one with the new one behind it (then only the new one), in either byte order. Entries
 * that point outside are passed over. 0, -ENOEXEC for what is no such file, or what `each` said.
 */
int link_cache_each(const char *bytes, size_t length, link_cache_callback *each, void *context);

#endif
