/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The programs that keep the map of who is followed (layout.h), on the tracepoint task:task_newtask, or
 * the raw one of that name, and the raw one sched_process_exec. A new task of any kind, a worker of io_uring too, is what its
 * maker is, from before its first instruction; a number that somebody had before is its new owner's
 * then, so that nothing need ever be taken out.
 */
#ifndef STACKBOX_INSNS_FOLLOW_H
#define STACKBOX_INSNS_FOLLOW_H

#include "insns/filter.h"
#include "insns/task.h"

struct follow_programs {
    const struct event_filter *filter; /* the map, and whose numbers `self` goes by; its pids, whose children are followed */
    uint32_t self;                     /* without pids: what this thread makes is held */
    uint16_t pid;                      /* where task_newtask has the new one's number; or, of */
    struct task_fields task;           /* a raw one, where the task has it, if that is known */
};

void emit_follow_birth(struct program *program, const struct follow_programs *programs);
void emit_follow_exec(struct program *program, const struct event_filter *filter);

#endif
