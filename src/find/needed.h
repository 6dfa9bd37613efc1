/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What a program will have mapped when it runs, as far as that can be told before. */
#ifndef STACKBOX_FIND_NEEDED_H
#define STACKBOX_FIND_NEEDED_H

#include <stddef.h>

#include "base/text.h"

/*
 * Appends its own path, those of the libraries that it needs, of theirs and so on, each with a NUL behind it. 0
 * or a negative errno.
 */
int needed_find(const char *program, struct text *paths);

#endif
