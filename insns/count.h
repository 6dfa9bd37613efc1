/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The program of stackcount and profile: adds one to the count of the stack that led to the event. */
#ifndef STACKBOX_INSNS_COUNT_H
#define STACKBOX_INSNS_COUNT_H

#include "insns/caller.h"
#include "insns/condition.h"
#include "insns/filter.h"
#include "insns/life.h"
#include "insns/program.h"
#include "insns/stacks.h"

struct count_wishes {
    struct event_filter filter;
    bool kernel_stack, user_stack;
    bool per_process; /* tell processes apart: by pid and name */
    bool per_thread;  /* and their threads, by tid */
    bool without_idle; /* leave out idle CPUs: the idle tasks, pid 0 */
    bool meets;       /* may nest with other programs (slot.h); those on user probes may */
    bool caller;      /* the event is at a user function's first instruction */
    const struct machine *machine; /* the kernel's: tells where the caller is */
    uint32_t flags;   /* KEY_USER_PROBE, KEY_NO_CALLER, KEY_KERNEL_START...: of every event */
    const struct event_condition *condition; /* a further condition on events; or NULL */
    const struct event_value *sum; /* also summed up, and counts are struct summed; or NULL */
    uint32_t depth;   /* frames per stack */
    /* Descriptors of the maps that layout.h describes. */
    int control, account, slots;
    struct life_maps lives;
    struct stack_ids ids;
    struct bank_maps banks;
    const struct unwind_wishes *unwind; /* user stacks by tables; NULL: only by frame pointers */
};

/* The same code for kprobe, kprobe.multi, tracepoint, uprobe and perf event programs. */
void emit_count(struct program *program, const struct count_wishes *wishes);

#endif
