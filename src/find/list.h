/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What --list prints: places in the form in which they can be typed as patterns. */
#ifndef STACKBOX_FIND_LIST_H
#define STACKBOX_FIND_LIST_H

#include "base/text.h"
#include "find/place.h"

/*
 * Appends a line for each place, sorted, equal ones once (the sites of a USDT probe, functions of
 * one name); with `readable` of NULL with names as the tables have them. 0 or -ENOMEM.
 */
int list_places(const struct places *places, const struct demangle_wishes *readable,
                struct text *lines);

#endif
