/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Finds tracefs, or mounts it where nobody but this process sees it, and reads from it. */
#ifndef STACKBOX_KERNEL_TRACEFS_H
#define STACKBOX_KERNEL_TRACEFS_H

#include <stdint.h>

#include "util.h"

/*
 * An open directory of tracefs; the caller closes it. The usual mount points are tried first; where
 * it is mounted nowhere, it is mounted detached (5.2), or in a mount namespace that a child holds
 * for a moment. Neither changes what any other process sees.
 */
int tracefs_open(void);

/* The id of a tracepoint, from events/CATEGORY/NAME/id. 0, -ENOENT when there is none. */
int tracefs_event_id(int tracefs, const char *category, const char *name, uint32_t *id);

/*
 * Calls `each` with every tracepoint whose category is accepted by `wanted` (NULL: all). A negative
 * value of `each` ends it and is returned.
 */
typedef bool tracefs_wanted(void *context, const char *category);
typedef int tracefs_each(void *context, const char *category, const char *name);
int tracefs_each_event(int tracefs, tracefs_wanted *wanted, tracefs_each *each, void *context);

#endif
