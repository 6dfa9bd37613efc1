/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The threads that sleep now, as /proc shows them: what is known of those that no program ever saw. */
#ifndef STACKBOX_MAPS_ASLEEP_H
#define STACKBOX_MAPS_ASLEEP_H

#include "tally/tally.h"

struct asleep_wishes {
    const uint32_t *pids, *tids; /* these alone; none: all */
    size_t pid_count, tid_count;
    int64_t cpu;         /* the one that they left; -1: any */
    const char *cgroup;  /* a directory of cgroup v2: those in it and below; NULL: all */
    const char *states;  /* letters of /proc/TID/stat */
    bool user, kernel;   /* threads of programs, of the kernel */
    uint64_t started_before; /* ns since boot, suspended time included */
};

struct asleep {
    uint32_t pid, tid;
    char comm[COMM_BYTES + 1];
    const char *stack; /* the text of /proc/TID/stack; NULL: it may not be read */
};

/*
 * Calls `each` with every such thread; what it points to holds for that call. A negative value of
 * `each` ends it and is returned. 0 or a negative errno, as where one was passed over or has no stack because
 * memory, descriptors or a read failed. A thread that ends meanwhile is passed over.
 */
typedef int asleep_each(void *context, const struct asleep *thread);
int asleep_list(const struct asleep_wishes *wishes, asleep_each *each, void *context);

#endif
