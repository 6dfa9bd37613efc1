/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which CPUs are online, as /sys lists them. */
#ifndef STACKBOX_KERNEL_CPUS_H
#define STACKBOX_KERNEL_CPUS_H

#include "util.h"

/*
 * Appends the list, such as "0-3,6\n". Where /sys is not there it is one of all numbers that a CPU may
 * have: who opens something on each is told by -ENODEV that it is offline, by -EINVAL that there are
 * no more. 0 or -ENOMEM.
 */
int cpus_read_online(struct text *list);

/* Takes the next range off a list; false at its end, and where it is no list. */
bool cpus_next(const char **list, unsigned *first, unsigned *last);

#endif
