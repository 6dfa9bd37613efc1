/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * User stacks of samples, walked here along tables as programs walk them in the kernel (insns/unwind.c): from the
 * registers and the copy of the stack that a sample has.
 */
#ifndef STACKBOX_RINGS_RING_UNWIND_H
#define STACKBOX_RINGS_RING_UNWIND_H

#include "insns/unwind.h"
#include "rings/ring_events.h"
#include "rings/ring_table.h"
#include "unwind/cold_objects.h"

/* The session's, and filled in by it. */
struct ring_unwind {
    const struct machine *machine; /* of samples that are to have what is walked; NULL: none are */
    uint32_t stack_bytes;          /* so much of its stack each has: by who opens them; else 0 */
    struct cold *cold;             /* NULL: the kernel's walks along frame pointers have to do */
    struct cold_objects *objects;
    bool first_alone;              /* or their first frame */
    uint64_t *frames;              /* room for the stack of one sample: 2, or `depth` */
    struct unwind_counts counts;
};

/* Fills in what samples are to have. `few`: they come by a clock, and more of their stacks may be taken. */
void ring_unwind_ask(struct ring_unwind *unwind, bool few, struct rings_wishes *wishes);

/* Before samples are walked: what processes mapped until now is known. */
void ring_unwind_settle(struct ring_unwind *unwind);

/*
 * The stack of a sample of that time, at the first instruction of a function or not. False, and `stack` as it was:
 * the kernel's walk will do. Else it is good until the next one.
 */
bool ring_unwind_walk(struct ring_unwind *unwind, const struct ring_sample *sample, uint64_t time, bool at_entry,
                      struct ring_stack *stack);

#endif
