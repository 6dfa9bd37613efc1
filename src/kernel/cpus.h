/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which CPUs there are, and are online. */
#ifndef STACKBOX_KERNEL_CPUS_H
#define STACKBOX_KERNEL_CPUS_H

#include <stdbool.h>
#include <stddef.h>


/*
 * Calls `add` with each CPU that is online: 0, or a negative errno, which ends it and is returned. But
 * -ENODEV is one that went offline meanwhile and is passed over. Without /sys all numbers are tried, and
 * -EINVAL, where it is not the first answer, says that there are no more. 0 or -ENOMEM, too.
 */
typedef int cpus_add(void *context, unsigned cpu);
int cpus_each_online(cpus_add *add, void *context);
/* The same with each that could be brought online. */
int cpus_each_present(cpus_add *add, void *context);

/* As many CPUs as there may ever be, or more: what is kept for each has so many values. */
size_t cpus_possible(void);

/* ---- For tests ---- */

/* Takes the next range off a list such as "0-3,6\n"; false at its end, and where it is no list. */
bool cpus_next(const char **list, unsigned *first, unsigned *last);

#endif
