/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stacks that programs met before there was a table for them: they keep the rest of such a stack in a ring
 * buffer (insns/unwind_keep.c), and here it is walked once the tables are there. What was walked stays for
 * whoever asks, as the same word may stand for it in later reports. Memory is bounded: the oldest goes first.
 */
#ifndef STACKBOX_UNWIND_COLD_H
#define STACKBOX_UNWIND_COLD_H

#include "insns/unwind.h"
#include "unwind/walk.h"

struct cold;

struct cold_wishes {
    const struct machine *machine; /* that of struct walk_wishes */
    void *context;
    /*
     * What was mapped at an address where that walk was, by process and time: `object` is UNMAPPED. False: it
     * has no table, but will have one.
     */
    bool (*find)(void *context, const struct unwind_state *walk, uint64_t pc, struct walk_object *object);
    bool asked;        /* for that depth: the end of what is deeper is not told */
    uint32_t depth;    /* of stacks, with the frame for their end */
    size_t ring_bytes; /* 0: there is none, and cold_take() is called by others */
    size_t most_bytes; /* of what was read from it */
    size_t sampled_bytes; /* there is no program: so much of a stack is copied at most. Else 0 */
};

/* 0 or a negative errno; cold_close after either. */
int cold_open(struct cold **made, const struct cold_wishes *wishes);
void cold_close(struct cold *cold);

/* The ring buffer's. */
int cold_map(const struct cold *cold);

/*
 * To be called often: takes what there is, and walks it, and what waits, as far as there are tables. What
 * processes had mapped by now is to be known before. How many were taken, or a negative errno.
 */
int cold_read(struct cold *cold);
void cold_walk(struct cold *cold);
/* How many wait for a table; and whether that does which this frame stands for, if it is one. */
size_t cold_waiting(const struct cold *cold);
bool cold_is_waiting(const struct cold *cold, uint64_t frame);

/*
 * A stack whose last frame is an UNWIND_COLD_FRAME, as it is when its rest is walked: so many frames are in
 * `whole`, which has room for `depth`. Where that is not to the root the last is one for the end. 0: not yet;
 * `for_good` it is as far as that can be told now.
 */
size_t cold_complete(struct cold *cold, const uint64_t *frames, size_t count, bool for_good, uint64_t *whole);

struct cold_figures {
    uint64_t taken, forgotten; /* stacks; of those, before anybody could have asked for them again */
};
struct cold_figures cold_figures(const struct cold *cold);

/*
 * A sample: a walk that is all to do yet, and `kept` bytes of its stack. As a program would have it: how many frames
 * came to `frames`, which has room for 2 and for `depth`, with the end, or one for what is walked later.
 */
size_t cold_walk_sample(struct cold *cold, struct unwind_state *walk, const void *stack, uint64_t *frames);

/* What a program kept, of so many bytes. 0 or -ENOMEM. `context` is the struct cold. */
int cold_take(void *context, const void *record, size_t size);

#endif
