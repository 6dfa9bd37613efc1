/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The programs that maintain the maps of followed tasks and of numbers asked for (layout.h), on the
 * tracepoint task:task_newtask, or the raw one of that name, and the raw tracepoint
 * sched_process_exec. A new task of any kind, including io_uring workers, is what its maker is, from
 * before its first instruction. A number then belongs to its new owner: whoever was asked for by it
 * has ended.
 */
#ifndef STACKBOX_INSNS_FOLLOW_H
#define STACKBOX_INSNS_FOLLOW_H

#include "insns/filter.h"
#include "insns/task.h"

struct follow_programs {
    const struct event_filter *filter; /* the map; the namespace of `self`; pids whose children follow */
    uint32_t self;                     /* without pids: what this thread forks is held */
    uint16_t pid;                      /* where task_newtask has the new task's number; or, if */
    struct task_fields task;           /* known, for a raw one, where the task has it */
};

/* For either map, or both. In a namespace, numbers are only removed by raw ones that know the task. */
void emit_follow_birth(struct program *program, const struct follow_programs *programs);
/* From a command's exec on. */
void emit_follow_exec(struct program *program, const struct event_filter *filter);
/* A thread that executes a program has its process's number then. */
void emit_follow_thread(struct program *program, const struct event_filter *filter);

#endif
