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
    bool without_idle; /* not where nobody runs: the idle task of each CPU, pid 0 */
    bool meets;       /* this program may meet others (slot.h); one on user probes always may */
    bool caller;      /* the event is at the first instruction of a user's function */
    const struct machine *machine; /* the kernel's: where its caller is looked for */
    uint32_t flags;   /* KEY_USER_PROBE, KEY_NO_CALLER, KEY_KERNEL_START...: what is known of every event */
    const struct event_condition *condition; /* what must hold of the event besides; or NULL */
    const struct event_value *sum; /* what is added up besides, and counts are struct summed; or NULL */
    uint32_t depth;   /* frames per stack */
    /* Descriptors of the maps that layout.h describes. */
    int control, account, slots;
    struct life_maps lives;
    struct stack_ids ids;
    struct bank_maps banks;
    const struct unwind_wishes *unwind; /* user stacks along tables; NULL: along frame pointers alone */
};

/* The same code for kprobe, kprobe.multi, tracepoint, uprobe and perf event programs. */
void emit_count(struct program *program, const struct count_wishes *wishes);

#endif
