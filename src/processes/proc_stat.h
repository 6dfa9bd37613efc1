/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What /proc/PID/stat says of a process. */
#ifndef STACKBOX_PROCESSES_PROC_STAT_H
#define STACKBOX_PROCESSES_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>

struct proc_stat {
    char state;         /* of its first thread: 'R' runs, or waits for a CPU */
    uint64_t used;      /* CPU time of all its threads, in ns */
    uint64_t start;     /* CLOCK_BOOTTIME, in ns */
};

/* False: there is no such process, or it is hidden from us. */
bool proc_stat_read(uint32_t pid, struct proc_stat *stat);

#endif
