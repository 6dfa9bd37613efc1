/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Events that are held for a while: their stacks wait for the tables of a program that ran for the first time. */
#ifndef STACKBOX_SNOOPING_HELD_H
#define STACKBOX_SNOOPING_HELD_H

#include "snooping/timeline.h"
#include "unwind/cold.h"

/* Of so many that are ready, how many there are before the first that is held. `cold` may be NULL. */
size_t count_not_held(const struct timeline *timeline, size_t ready, const struct cold *cold);

#endif
