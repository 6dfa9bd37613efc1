/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef STACKBOX_WORKLOADS_CPUS_H
#define STACKBOX_WORKLOADS_CPUS_H

#include <sched.h>

/* Pins this thread to the index-th CPU of those allowed, wrapping around. */
static inline void pin_to_cpu(unsigned index)
{
    cpu_set_t allowed, one;

    if (sched_getaffinity(0, sizeof(allowed), &allowed) || !CPU_COUNT(&allowed))
        return;
    index %= (unsigned)CPU_COUNT(&allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed) || index--)
            continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof(one), &one);
        return;
    }
}

#endif
