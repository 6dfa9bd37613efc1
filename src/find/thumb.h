/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Linux cannot probe Thumb code on 32-bit ARM, but does not refuse to: it writes an ARM instruction
 * there, which kills the program or changes what it does.
 */
#ifndef STACKBOX_FIND_THUMB_H
#define STACKBOX_FIND_THUMB_H

#include "find/user_file.h"

/*
 * Removes the places from `first` on, all in this file, that are not known to be ARM instructions.
 * If any are left, a sentence in `left_out` says how many were removed (unless there is one
 * already); if none is, -ENOTSUP with one line in `error`. 0 or another negative errno otherwise.
 */
int thumb_remove(const struct user_file *file, const struct pattern *pattern,
                 struct places *places, size_t first, struct text *left_out, struct text *error);

#endif
