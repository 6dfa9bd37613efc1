/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The program of stacksnoop: passes each event with its stacks to a buffer, as a snoop_record. */
#ifndef STACKBOX_INSNS_SNOOP_H
#define STACKBOX_INSNS_SNOOP_H

#include "insns/caller.h"
#include "insns/condition.h"
#include "insns/filter.h"
#include "insns/life.h"
#include "insns/program.h"
#include "insns/unwind.h"

struct snoop_wishes {
    struct event_filter filter;
    bool kernel_stack, user_stack;
    bool caller;    /* the event is at a user function's first instruction */
    const struct machine *machine; /* the kernel's: tells where the caller is */
    uint32_t flags; /* KEY_USER_PROBE, KEY_NO_CALLER, KEY_KERNEL_START...: of every event */
    const struct event_condition *condition; /* a further condition on events; or NULL */
    const struct event_value *values;        /* also in the record */
    size_t value_count;
    uint32_t depth; /* frames per stack */
    bool to_ring;   /* `buffer` is a BPF_MAP_TYPE_RINGBUF, otherwise a PERF_EVENT_ARRAY */
    /* Descriptors of maps; slots are only for a PERF_EVENT_ARRAY. */
    int buffer, control, account, slots;
    struct life_maps lives;
    const struct unwind_wishes *unwind; /* user stacks by tables; NULL: only by frame pointers */
};

/*
 * The instruction with this label is MOV_IMM(R0, 0), with the context in r1 before it. The place's
 * number is put into it, or CALL(BPF_FUNC_get_attach_cookie) replaces it.
 */
#define SNOOP_PLACE_LABEL "place"

/* The same code for kprobe, kprobe.multi, tracepoint and uprobe programs. */
void emit_snoop(struct program *program, const struct snoop_wishes *wishes);

#endif
