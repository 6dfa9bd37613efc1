/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What samples do not say of their tasks: the name, which life of its pid and which program it was, and whether
 * it comes of the command. It is what was in /proc when all began, and from then on what the rings tell, in order.
 */
#ifndef STACKBOX_RINGS_RING_TASKS_H
#define STACKBOX_RINGS_RING_TASKS_H

#include <stdbool.h>

#include "rings/records.h"
#include "tally/tally.h"

/* By its tid; what is of the process by that of its first thread, which is its pid. */
struct ring_task_state {
    char comm[COMM_BYTES];
    uint64_t born;    /* as in insns/layout.h: of a process */
    uint32_t pid;     /* 0: nothing is known of that thread */
    uint32_t threads; /* of a process */
    uint64_t event;   /* by which its samples are taken; 0: there was none yet */
    bool followed;
};

struct ring_tasks {
    struct ring_task_state *tasks;
    size_t count; /* of numbers that there may be */
    uint32_t held; /* who is followed once it executes something; 0: nobody */
    const uint32_t *pids; /* whose children are followed */
    size_t pid_count;
};

/* 0 or a negative errno; ring_tasks_close after either. */
int ring_tasks_open(struct ring_tasks *tasks);
void ring_tasks_close(struct ring_tasks *tasks);

/* Takes what /proc has of all threads, or, where that is named, of one process. */
void ring_tasks_look(struct ring_tasks *tasks);

/* The thread of a sample: never NULL. What is not known is looked up. */
struct ring_task_state *ring_tasks_of(struct ring_tasks *tasks, uint32_t pid, uint32_t tid);
/* Its process. */
struct ring_task_state *ring_tasks_process(struct ring_tasks *tasks, uint32_t pid);

/* That process did something then. */
void ring_tasks_see(struct ring_tasks *tasks, uint32_t pid, uint64_t time);
/* Takes in what was told at that time. */
void ring_tasks_take(struct ring_tasks *tasks, const struct ring_task *task, uint64_t time);

#endif
