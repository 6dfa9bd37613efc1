/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From patterns such as c:malloc and /path:0x1234 to instructions in a file. */
#ifndef STACKBOX_FIND_USER_FUNCTIONS_H
#define STACKBOX_FIND_USER_FUNCTIONS_H

#include "find/user_file.h"

/*
 * Adds each function in the file that `pattern`, a PATTERN_USER_FUNCTION, matches; *matched is how
 * many, aliases included. Functions that only choose another one (IFUNC) are left out. 0, or a
 * negative errno with one line in `error` (none for -ENOMEM): -ENOENT if none matches.
 */
int user_functions_find(const struct user_file *file, const struct pattern *pattern,
                        struct places *places, size_t *matched, struct text *error);

#endif
