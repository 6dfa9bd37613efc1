/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The threads that are blocked now, as /proc shows them. It is the only source for threads that had
 * no event while programs ran.
 */
#ifndef STACKBOX_STORE_BLOCKED_THREADS_H
#define STACKBOX_STORE_BLOCKED_THREADS_H

#include "insns/filter.h"
#include "tally/tally.h"

struct blocked_filter {
    const struct event_filter *of; /* by its processes, threads, names, users, and CPU they left */
    const char *cgroup;  /* a cgroup v2 directory: those in and below it; NULL: all */
    const char *states;  /* letters of /proc/TID/stat */
    bool user, kernel;   /* threads of programs, threads of the kernel */
    uint64_t started_before; /* ns since boot, suspended time included */
};

struct blocked_thread {
    uint32_t pid, tid;
    char state; /* one of those letters */
    char comm[COMM_BYTES + 1];
    const char *stack; /* the text of /proc/TID/stack; NULL: not readable */
};

/*
 * Calls `each` with every such thread; what it points to is valid during the call. A negative
 * result of `each` ends this and is returned. 0 or a negative errno, also if a thread was skipped
 * or has no stack because memory, descriptors or a read failed. Threads that end meanwhile are
 * skipped.
 */
typedef int blocked_threads_each(void *context, const struct blocked_thread *thread);
int blocked_threads_list(const struct blocked_filter *filter, blocked_threads_each *each,
                         void *context);

#endif
