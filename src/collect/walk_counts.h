/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A collector of counts for kernels that keep no stacks: by programs that walk them
 * (insns/unrolled.c) into arrays.
 */
#ifndef STACKBOX_COLLECT_WALK_COUNTS_H
#define STACKBOX_COLLECT_WALK_COUNTS_H

#include "collect/collector.h"
#include "insns/unrolled.h"
#include "maps/grace.h"

struct walk_counts_wishes {
    bool kernel, user; /* stacks */
    bool per_process, per_thread;
    uint64_t depth;    /* 0: as deep as possible */
    uint64_t stacks;   /* distinct ones between two reports; 0: by free memory */
};

struct walk_counts {
    struct collector collector;
    struct walk_counts_wishes wishes;
    /* Once open, programs are made with this; their filter and kind are up to the caller. */
    struct unrolled_wishes unrolled;
    struct processes *processes; /* likewise: tells which program a stack is of; or NULL */
    uint32_t bank; /* being counted into: 1 or 2 */
    uint32_t bucket_bytes, scratch_bytes;
    struct grace grace;
    void *value; /* room for a value of any map */
    struct account before[WALK_BANKS]; /* when they were last taken */
    struct account sum;
    uint64_t counted, looked_at;
};

/* An empty one, which may be closed. */
void walk_counts_init(struct walk_counts *counts, const struct walk_counts_wishes *wishes);

/*
 * Can this kernel's stacks be walked so, and does it accept such a program? 0 or a negative errno.
 */
int walk_counts_try(void);

#endif
