/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which files a process has mapped, and those of them open that a pattern may mean. */
#ifndef STACKBOX_FIND_LIBRARY_SEEN_H
#define STACKBOX_FIND_LIBRARY_SEEN_H

#include <stddef.h>

#include "processes/proc_maps.h"

struct library_mapped {
    struct maps_entry entry; /* with a path of its own */
    int fd;                  /* what is mapped, or a negative errno */
};

/* What a process had mapped of files when it was looked at: {0} is nothing. */
struct library_seen {
    struct library_mapped *items;
    size_t count, room;
    uint32_t shown_by; /* the process, or a thread that shows its memory */
};

/*
 * Looks at a process; of one that is gone or not ours to look at nothing is seen. What one of the
 * `count` names may mean is opened by its mapping, which takes more rights than opening else does: it
 * need not be open by its path any more. 0 or -ENOMEM; library_seen_free after either.
 */
int library_see(uint32_t pid, const char *const *typed, size_t count, struct library_seen *seen);
void library_seen_free(struct library_seen *seen);

/* What is mapped there, by the mapping: it need not have a path any more. Or a negative errno. */
int library_open_mapping(uint32_t pid, uint64_t start, uint64_t end);

#endif
