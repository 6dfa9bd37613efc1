/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The threads that are asleep now, as /proc shows them: all that is known of those that no program
 * ever saw.
 */
#ifndef STACKBOX_MAPS_ASLEEP_H
#define STACKBOX_MAPS_ASLEEP_H

#include "tally/tally.h"

struct asleep_wishes {
    const uint32_t *pids, *tids; /* only these; none: all */
    size_t pid_count, tid_count;
    const char (*comms)[COMM_BYTES]; /* of these names, of these real users; none: all */
    const uint32_t *uids;
    size_t comm_count, uid_count;
    int64_t cpu;         /* the one they left; -1: any */
    const char *cgroup;  /* a cgroup v2 directory: those in and below it; NULL: all */
    const char *states;  /* letters of /proc/TID/stat */
    bool user, kernel;   /* threads of programs, threads of the kernel */
    uint64_t started_before; /* ns since boot, suspended time included */
};

struct asleep {
    uint32_t pid, tid;
    char comm[COMM_BYTES + 1];
    const char *stack; /* the text of /proc/TID/stack; NULL: not readable */
};

/*
 * Calls `each` with every such thread; what it points to is valid during the call. A negative
 * result of `each` ends this and is returned. 0 or a negative errno, also if a thread was skipped
 * or has no stack because memory, descriptors or a read failed. Threads that end meanwhile are
 * skipped.
 */
typedef int asleep_each(void *context, const struct asleep *thread);
int asleep_list(const struct asleep_wishes *wishes, asleep_each *each, void *context);

#endif
