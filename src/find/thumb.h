/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Linux probes no Thumb code of 32-bit ARM, and does not refuse it either: it writes an ARM instruction
 * there, which ends the program or changes what it does.
 */
#ifndef STACKBOX_FIND_THUMB_H
#define STACKBOX_FIND_THUMB_H

#include "find/user_file.h"

/*
 * Takes out the places from `first` on, all of this file, that are not known to be ARM's own
 * instructions. Where others are left, a sentence in `left_out` says how many went (unless it has one
 * already); where none is, -ENOTSUP with one line in `error`. 0 or another negative errno else.
 */
int thumb_remove(const struct user_file *file, const struct pattern *pattern,
                 struct places *places, size_t first, struct text *left_out, struct text *error);

#endif
