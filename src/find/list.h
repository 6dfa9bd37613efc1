/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What --list prints: places as they can be typed as patterns. */
#ifndef STACKBOX_FIND_LIST_H
#define STACKBOX_FIND_LIST_H

#include "base/text.h"
#include "find/place.h"

/*
 * Appends a line per place, sorted, without duplicates (sites of a USDT probe, functions of the
 * same name); if `readable` is NULL, with names from the symbol tables. 0 or -ENOMEM.
 */
int list_places(const struct places *places, const struct demangle_wishes *readable,
                struct text *lines);

#endif
