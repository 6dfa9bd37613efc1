/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where no event came: the same function in other files, which may be the one that is called. A process
 * has an allocator of its own, and a container libraries of its own.
 */
#ifndef STACKBOX_FIND_RIVALS_H
#define STACKBOX_FIND_RIVALS_H

#include "find/find.h"

/*
 * Looks through what find->pid has mapped for other files with the functions that were named; or, where
 * that is 0, through the roots of processes that do not see our files, for libraries that were named.
 * Appends a line for each function, five at most, that says what to trace. 0 or a negative errno.
 */
int rivals_find(const struct find *find, struct text *lines);

#endif
