/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * When no event came: the same function in other files, one of which may be the one that is called.
 * A process may have an allocator of its own, and a container libraries of its own.
 */
#ifndef STACKBOX_FIND_ALTERNATIVES_H
#define STACKBOX_FIND_ALTERNATIVES_H

#include "base/text.h"
#include "find/find.h"
#include "find/place.h"

/*
 * Searches what find->pid has mapped for other files with the named functions; or, if that is 0,
 * the roots of processes that do not see our files for the named libraries. Appends at most five
 * lines, one per function, that say what to trace. 0 or a negative errno.
 */
int alternatives_find(const struct find *find, struct text *lines);

/*
 * If this kernel is such a one: the first of these places, with what to type instead in `pattern`.
 * NULL if there is none, or no function to trace instead.
 */
const struct place *exact_alternative(const struct places *places, int kallsyms,
                                      struct text *pattern);

#endif
