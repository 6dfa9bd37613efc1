/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The files that a program will have mapped when it runs, as far as that can be known. */
#ifndef STACKBOX_FIND_NEEDED_H
#define STACKBOX_FIND_NEEDED_H

#include <stddef.h>

#include "base/text.h"

/*
 * Appends its own path, the paths of the libraries it needs, of those that they need and so on,
 * each followed by a NUL. 0 or a negative errno.
 */
int needed_find(const char *program, struct text *paths);

#endif
