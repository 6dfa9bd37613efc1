/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Events that are held for a while: their stacks wait for the tables of a program that just
 * started.
 */
#ifndef STACKBOX_SNOOPING_HELD_H
#define STACKBOX_SNOOPING_HELD_H

#include "snooping/timeline.h"
#include "unwind/cold.h"

/* How many of the `ready` events come before the first that is held. `cold` may be NULL. */
size_t count_not_held(const struct timeline *timeline, size_t ready, const struct cold *cold);

#endif
