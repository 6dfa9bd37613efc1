/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A collector of counts for kernels that keep no stacks: by programs that walk them (insns/unrolled.c), in arrays. */
#ifndef STACKBOX_COLLECT_WALK_COUNTS_H
#define STACKBOX_COLLECT_WALK_COUNTS_H

#include "collect/collector.h"
#include "insns/unrolled.h"
#include "maps/grace.h"

struct walk_counts_wishes {
    bool kernel, user; /* stacks */
    bool per_process, per_thread;
    uint64_t depth;    /* 0: as deep as can be */
    uint64_t stacks;   /* that are told apart between two reports; 0: by the memory that is there */
};

struct walk_counts {
    struct collector collector;
    struct walk_counts_wishes wishes;
    /* What programs are made with, once it is open; their filter and what kind they are is the caller's. */
    struct unrolled_wishes unrolled;
    struct processes *processes; /* likewise: who tells which program of its process a stack is of; or NULL */
    uint32_t bank; /* that is counted into: 1 or 2 */
    uint32_t bucket_bytes, scratch_bytes;
    struct grace grace;
    void *value; /* room for one of any map */
    struct account before[WALK_BANKS]; /* as they were when they were last taken */
    struct account sum;
    uint64_t counted, looked_at;
};

/* One that holds nothing, and may be closed. */
void walk_counts_init(struct walk_counts *counts, const struct walk_counts_wishes *wishes);

/* Can this kernel's stacks be walked so, and does it take such a program? 0 or a negative errno. */
int walk_counts_try(void);

#endif
