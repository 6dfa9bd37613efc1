/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names one after the other in one string, "one\0" "two\0": hundreds of pointers fewer. A name that
 * ends in * stands for all names that begin so.
 */
#ifndef STACKBOX_BASE_NAME_LIST_H
#define STACKBOX_BASE_NAME_LIST_H

#include <stdbool.h>

/* Each name is written with its \0; the string's own NUL ends the list. NULL: no names. */
bool name_list_has(const char *list, const char *name);

#endif
