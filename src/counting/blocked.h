/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What is found out about waits only once they are in the tally: who the wakers really were, and
 * who never ran.
 */
#ifndef STACKBOX_COUNTING_BLOCKED_H
#define STACKBOX_COUNTING_BLOCKED_H

#include "maps/asleep.h"
#include "maps/waits.h"
#include "symbolize/interrupts.h"
#include "tally/tally.h"

/*
 * A wakeup by an interrupt is not the interrupted thread's doing: its waker is the interrupt,
 * without numbers and user stack, and keeps that thread's name only with `bystanders`. Without
 * `kernel` no waker keeps its kernel stack, which was only taken for this.
 */
void blocked_judge_wakers(const struct interrupts *interrupts, bool kernel, bool bystanders,
                          struct tally *tally);

/*
 * Adds the threads that are asleep and were not seen to block, with that mark, for `time` ns. With
 * `kernel`, their kernel stacks, by /proc/kallsyms, open as `kallsyms`. 0 or a negative errno.
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
