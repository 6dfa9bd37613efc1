/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which system calls the process that reads strangers' files may make: see apart_rights.c. */
#ifndef STACKBOX_APART_APART_FILTER_H
#define STACKBOX_APART_APART_FILTER_H

#include <linux/filter.h>

#include "insns/machine.h"

#define APART_FILTER_ROOM 128

/*
 * Writes seccomp's program for the machine that this was built for. Returns how many instructions:
 * 0 for an unknown machine.
 */
unsigned short apart_filter_make(const struct machine *machine,
                                 struct sock_filter filter[APART_FILTER_ROOM]);

#endif
