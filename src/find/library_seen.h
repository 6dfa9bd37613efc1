/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which files a process has mapped; those that a pattern may mean are open. */
#ifndef STACKBOX_FIND_LIBRARY_SEEN_H
#define STACKBOX_FIND_LIBRARY_SEEN_H

#include <stddef.h>

#include "processes/proc_maps.h"

struct library_mapped {
    struct maps_entry entry; /* with a path of its own */
    int fd;                  /* the mapped file, or a negative errno */
};

/* The files that a process had mapped when it was looked at: {0} is none. */
struct library_seen {
    struct library_mapped *items;
    size_t count, room;
    uint32_t shown_by; /* the process, or a thread that shows its memory */
};

/*
 * Looks at a process; nothing is seen if it is gone or we may not look at it. What one of the
 * `count` names may mean is opened through its mapping, which takes more rights than opening a
 * path, but works without one. 0 or -ENOMEM; library_seen_free after either.
 */
int library_see(uint32_t pid, const char *const *typed, size_t count, struct library_seen *seen);
void library_seen_free(struct library_seen *seen);

/*
 * Opens what is mapped there through the mapping: it may no longer have a path. A descriptor or a
 * negative errno.
 */
int library_open_mapping(uint32_t pid, uint64_t start, uint64_t end);

#endif
