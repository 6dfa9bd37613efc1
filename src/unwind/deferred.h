/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stacks that programs met before there was a table for them: a program puts the rest of such a
 * stack into a ring buffer (insns/unwind_find.c), and it is walked here once the tables exist.
 * Walked stacks are kept, as the same frame word may stand for one in later reports. Memory is
 * bounded: the oldest stacks go first.
 */
#ifndef STACKBOX_UNWIND_DEFERRED_H
#define STACKBOX_UNWIND_DEFERRED_H

#include "insns/unwind.h"
#include "processes/process.h"
#include "unwind/objects.h"
#include "unwind/walk.h"

struct deferred;

struct deferred_options {
    const struct machine *machine; /* as in struct walk_options */
    void *context;
    /*
     * Finds what was mapped at `pc`, in the process and at the time of that walk; `object` begins
     * as UNMAPPED. False: it has no table yet, but will have one.
     */
    bool (*find)(void *context, const struct unwind_state *walk, uint64_t pc,
                 struct walk_object *object);
    bool asked;        /* the user chose that depth: do not mark where a deeper stack is cut */
    uint32_t depth;    /* of stacks, including the frame for their end */
    size_t ring_bytes; /* 0: no ring; the caller calls deferred_take() */
    size_t most_bytes;   /* of stacks that are kept, */
    size_t walked_bytes; /* and of those already walked; 0: the same */
    size_t sampled_bytes; /* without programs: perf copies at most this much of a stack; else 0 */
};

/* 0 or a negative errno; deferred_close after either. */
int deferred_open(struct deferred **made, const struct deferred_options *options);
void deferred_close(struct deferred *deferred);

/* The ring buffer; and a descriptor that is readable once the reader thread has copied records. */
int deferred_map(const struct deferred *deferred);
int deferred_fd(const struct deferred *deferred);
/* Until deferred_end() a thread with our present rights reads it as fast as programs fill it. */
void deferred_begin(struct deferred *deferred);
void deferred_end(struct deferred *deferred);

/*
 * To be called often: takes new stacks, and walks those and the waiting ones as far as there are
 * tables. The caller must know before what processes have mapped by now. Returns how many were
 * taken, or a negative errno.
 */
int deferred_read(struct deferred *deferred);
void deferred_walk(struct deferred *deferred);
/* How many stacks wait for a table; and does the stack wait that this frame stands for, if any? */
size_t deferred_waiting(const struct deferred *deferred);
bool deferred_is_waiting(const struct deferred *deferred, uint64_t frame);

/*
 * Completes a stack whose last frame is an UNWIND_DEFERRED_FRAME: returns how many frames are in
 * `whole`, which has room for `depth`. If the walk did not reach the root, the last one is an end.
 * 0: it is not walked yet; with `for_good`, takes what is known now instead.
 */
size_t deferred_complete(struct deferred *deferred, const uint64_t *frames, size_t count,
                         bool for_good, uint64_t *whole);

struct deferred_figures {
    uint64_t taken, forgotten; /* stacks; and those dropped to bound memory */
};
struct deferred_figures deferred_figures(const struct deferred *deferred);

/*
 * Walks a perf sample: `walk` has not begun, `stack` has its `kept` bytes. Returns how many frames
 * went to `frames`, as a program would write them, with the end, or with a deferred frame if tables
 * are missing; there is room for 2 and for `depth`.
 */
size_t deferred_walk_sample(struct deferred *deferred, struct unwind_state *walk, const void *stack,
                        uint64_t *frames);

/* Takes what a program kept. 0 or -ENOMEM. `context` is the struct deferred. */
int deferred_take(void *context, const void *record, size_t size);

struct deferred_objects {
    struct processes *processes;
    struct objects *objects;
    struct table table; /* found last */
    bool is_settled;    /* processes_settle() was called; else find calls it */
    /* Hashes of trampolines that were seen: a process may end before its stacks are walked. */
    uint64_t trampolines[64];
};

/*
 * As deferred_options.find; tells programs which objects will never have a table. `context` is a
 * struct deferred_objects.
 */
bool deferred_objects_find(void *context, const struct unwind_state *walk, uint64_t pc,
                       struct walk_object *object);

#endif
