/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Records in perf's rings, as the kernel writes them: what follows these fields depends on what was
 * asked for.
 */
#ifndef STACKBOX_KERNEL_PERF_RECORDS_H
#define STACKBOX_KERNEL_PERF_RECORDS_H

#include <linux/perf_event.h>
#include <stdint.h>

struct fork_record { /* and of an exit */
    struct perf_event_header header;
    uint32_t pid, ppid, tid, ptid;
    uint64_t time;
};

struct comm_record { /* the name follows */
    struct perf_event_header header;
    uint32_t pid, tid;
};

struct lost_record {
    struct perf_event_header header;
    uint64_t id, lost;
};

#endif
