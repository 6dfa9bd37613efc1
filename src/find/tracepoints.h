/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From a pattern to tracepoints of the running kernel. */
#ifndef STACKBOX_FIND_TRACEPOINTS_H
#define STACKBOX_FIND_TRACEPOINTS_H

#include "find/pattern.h"
#include "find/place.h"

/*
 * Adds each tracepoint that `pattern` matches; *matched is how many. `tracefs` is an open
 * directory. If a pattern without wildcards matches none, near names are appended to `near`. 0 or a
 * negative errno.
 */
int tracepoints_find(int tracefs, const struct pattern *pattern, struct places *places,
                     size_t *matched, struct text *near);

#endif
