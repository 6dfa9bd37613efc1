/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A collector of counts for kernels that keep no stacks: by programs that walk them
 * (insns/unrolled.c) into arrays.
 */
#ifndef STACKBOX_COLLECT_WALK_COUNTS_H
#define STACKBOX_COLLECT_WALK_COUNTS_H

#include "collect/collector.h"
#include "insns/programs.h"
#include "store/store.h"

struct walk_counts {
    struct collector collector;
    /* once open, programs are made with this; their filter and event are the caller's */
    struct capture capture;
    bool depth_asked;       /* by the user: stacks of that depth are not marked as cut */
    uint64_t stacks;        /* distinct ones between two reports; 0: by free memory */
    struct processes *processes; /* tells which program a stack is of; or NULL */
    uint32_t bank; /* being counted into: 1 or 2 */
    uint32_t bucket_bytes, scratch_bytes;
    struct grace grace;
    void *value; /* room for a value of any map */
    struct account before[WALK_BANKS]; /* when they were last taken */
    struct account sum;
    uint64_t counted, looked_at;
};

/* An empty one, which may be closed. The capture's depth may be 0: as deep as possible. */
void walk_counts_init(struct walk_counts *counts, const struct capture *capture, uint64_t stacks);

/*
 * Can this kernel's stacks be walked so, and does it accept such a program? 0 or a negative errno.
 */
int walk_counts_try(void);

#endif
