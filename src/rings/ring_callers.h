/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Adds the caller, which the kernel's walk leaves out, to stacks taken at a function's first
 * instruction.
 */
#ifndef STACKBOX_RINGS_RING_CALLERS_H
#define STACKBOX_RINGS_RING_CALLERS_H

#include "maps/callers.h"
#include "rings/ring_table.h"

struct ring_callers {
    struct callers of_users;
    bool kernel_finds; /* the kernel's walk was seen to find a kernel function's caller */
};

/* Adds missing callers throughout the table. 0 or -ENOMEM. */
int ring_callers_complete(struct ring_callers *callers, struct ring_table *table, uint32_t depth);

#endif
