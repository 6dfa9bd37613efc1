/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* USDT probes: instructions that programs mark for tracers, by notes in their files. */
#ifndef STACKBOX_FIND_USDT_H
#define STACKBOX_FIND_USDT_H

#include "find/user_file.h"

/*
 * Adds each site of each probe in the file that `pattern`, a PATTERN_USDT, matches; *matched is how
 * many sites. 0, or a negative errno with one line in `error` (none for -ENOMEM): -ENOENT if none
 * matches.
 */
int usdt_find(const struct user_file *file, const struct pattern *pattern, struct places *places,
              size_t *matched, struct text *error);

#endif
