/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Samples' user stacks, walked here by tables as programs walk them in the kernel (insns/unwind.c):
 * from the registers and the copy of the stack in a sample.
 */
#ifndef STACKBOX_RINGS_RING_UNWIND_H
#define STACKBOX_RINGS_RING_UNWIND_H

#include "insns/unwind.h"
#include "rings/ring_events.h"
#include "rings/ring_table.h"
#include "unwind/cold_objects.h"

/* The session's, which fills it in. */
struct ring_unwind {
    const struct machine *machine; /* of samples to be walked here; NULL: none */
    uint32_t stack_bytes;          /* how much of its stack each has: set on opening them; else 0 */
    struct cold *cold;             /* NULL: the kernel's walks by frame pointers must do */
    struct cold_objects *objects;
    bool first_alone;              /* or only their first frame */
    uint64_t *frames;              /* room for one sample's stack: 2, or `depth` */
    struct unwind_counts counts;
};

/*
 * Sets what samples are to contain. `few`: they come from a clock, and more of their stacks may be
 * copied.
 */
void ring_unwind_ask(struct ring_unwind *unwind, bool few, struct rings_wishes *wishes);

/* Before samples are walked: waits until what processes mapped until now is known. */
void ring_unwind_settle(struct ring_unwind *unwind);

/*
 * The stack of a sample of that time; `at_entry`: at a function's first instruction. False, with
 * `stack` unchanged: the kernel's walk will do. Otherwise it is valid until the next one.
 */
bool ring_unwind_walk(struct ring_unwind *unwind, const struct ring_sample *sample, uint64_t time, bool at_entry,
                      struct ring_stack *stack);

#endif
