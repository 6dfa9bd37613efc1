/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The program of stackcount: adds one to the count of the stack that led to the event. */
#ifndef STACKBOX_COUNT_H
#define STACKBOX_COUNT_H

#include "insns/filter.h"
#include "insns/program.h"
#include "insns/stacks.h"

struct count_wishes {
    struct event_filter filter;
    bool kernel_stack, user_stack;
    bool per_process; /* tell processes apart: by pid and name */
    uint32_t depth; /* frames per stack */
    /* Descriptors of the maps that layout.h describes. */
    int control, account, scratch;
    struct map_pair counts, stacks, spilled;
};

/* The same code for kprobe, kprobe.multi and tracepoint programs. */
void emit_count(struct program *program, const struct count_wishes *wishes);

#endif
