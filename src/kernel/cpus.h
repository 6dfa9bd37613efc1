/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which CPUs exist, and which are online. */
#ifndef STACKBOX_KERNEL_CPUS_H
#define STACKBOX_KERNEL_CPUS_H

#include <stdbool.h>
#include <stddef.h>


/*
 * Calls `add` with each CPU that is online: 0, or a negative errno, which ends this and is
 * returned. But -ENODEV is a CPU that went offline meanwhile, and is skipped. Without /sys all
 * numbers are tried, and -EINVAL, unless it is the first answer, means there are no more. Returns 0
 * or -ENOMEM, too.
 */
typedef int cpus_add(void *context, unsigned cpu);
int cpus_each_online(cpus_add *add, void *context);
/* The same for each CPU that could be brought online. */
int cpus_each_present(cpus_add *add, void *context);

/* An upper bound of how many CPUs there may ever be: per-CPU maps have that many values. */
size_t cpus_possible(void);

/* ---- For tests ---- */

/* Takes the next range from a list such as "0-3,6\n"; false at its end, or if it is not a list. */
bool cpus_next(const char **list, unsigned *first, unsigned *last);

#endif
