/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The memory limits of the cgroups that we are in, v1 and v2, as far up as can be seen from here. */
#ifndef STACKBOX_KERNEL_CGROUP_MEMORY_H
#define STACKBOX_KERNEL_CGROUP_MEMORY_H

#include <stdint.h>

#include "base/text.h"

/* The one that leaves the least. */
struct cgroup_memory {
    uint64_t left; /* bytes that may still be used; UINT64_MAX: there is no limit */
    uint64_t limit;
    struct text file; /* which says so; the caller's to free */
};

void cgroup_memory_find(struct cgroup_memory *found);

#endif
