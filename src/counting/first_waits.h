/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where threads were blocked when tracing began: their kernel stacks, which no program has seen.
 * For walltime.
 */
#ifndef STACKBOX_COUNTING_FIRST_WAITS_H
#define STACKBOX_COUNTING_FIRST_WAITS_H

#include "maps/asleep.h"
#include "symbolize/stack_text.h"

struct first_wait {
    uint32_t tid;
    size_t first, frames; /* in the texts */
};

/* {0} is empty. */
struct first_waits {
    struct stack_texts texts;
    struct first_wait *waits;
    size_t count, room;
    bool are_found; /* the texts have addresses */
};

/*
 * To be called once tracing has begun: whoever is asleep by these wishes and not in the map of
 * waits has been in this wait since then. 0 or a negative errno.
 */
int first_waits_note(struct first_waits *first, const struct asleep_wishes *wishes, int map);

/* Adds them to entries of blocked time without stacks. By /proc/kallsyms, open as `kallsyms`. */
int first_waits_give(struct first_waits *first, int kallsyms, struct tally *tally);
void first_waits_free(struct first_waits *first);

#endif
