/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names one behind the other in one string, "one\0" "two\0": without a word for each, of which there would
 * be hundreds. One that ends in * is the beginning of names.
 */
#ifndef STACKBOX_BASE_NAME_LIST_H
#define STACKBOX_BASE_NAME_LIST_H

#include <stdbool.h>

/* Each name is written with its \0; behind the last comes the string's own. NULL: there are none. */
bool name_list_has(const char *list, const char *name);

#endif
