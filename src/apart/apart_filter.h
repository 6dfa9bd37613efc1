/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which system calls the process that reads what strangers wrote may make: see apart_rights.c. */
#ifndef STACKBOX_APART_APART_FILTER_H
#define STACKBOX_APART_APART_FILTER_H

#include <linux/filter.h>

#include "insns/machine.h"

#define APART_FILTER_ROOM 128

/*
 * Writes seccomp's program for the machine that this was built for. How many instructions: 0 where
 * that is none of those that are known.
 */
unsigned short apart_filter_make(const struct machine *machine,
                                 struct sock_filter filter[APART_FILTER_ROOM]);

#endif
