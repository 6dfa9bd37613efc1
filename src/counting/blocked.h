/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What is known of waits only when they are in the tally: whose wakes they were, who never ran. */
#ifndef STACKBOX_COUNTING_BLOCKED_H
#define STACKBOX_COUNTING_BLOCKED_H

#include "maps/asleep.h"
#include "maps/waits.h"
#include "symbolize/interrupts.h"
#include "tally/tally.h"

/*
 * A wake by an interrupt is none of the interrupted thread: its waker is the interrupt, without numbers
 * and a user stack, and with `bystanders` alone it keeps that thread's name. Without `kernel` no waker
 * keeps its kernel stack, which was there to tell.
 */
void blocked_judge_wakers(const struct interrupts *interrupts, bool kernel, bool bystanders,
                          struct tally *tally);

/*
 * Adds the threads that sleep and were not seen to block, with that mark, for `time` ns. With
 * `kernel` their kernel stacks, by /proc/kallsyms, open as `kallsyms`. 0 or a negative errno.
 */
struct blocked_all_along {
    const struct asleep_wishes *wishes;
    const struct waits *waits; /* after the last report */
    uint64_t time;
    enum tally_mark mark;
    bool kernel;
    int kallsyms;
};
int blocked_add_all_along(const struct blocked_all_along *all_along, struct tally *tally);

#endif
