/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Whose the samples of rings are, and what is known about those tasks. */
#ifndef STACKBOX_RINGS_RING_TASKS_H
#define STACKBOX_RINGS_RING_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/scope.h"
#include "insns/filter.h"
#include "rings/records.h"
#include "tally/tally.h"

/* The threads that a filter names, as they are now: for events that are not those of all tasks. */

struct ring_threads {
    uint32_t *tids; /* the caller frees it */
    size_t count, room;
};

/* Adds one. 0 or -ENOMEM. */
int ring_threads_add(struct ring_threads *threads, uint32_t tid);
/* 0, or -ESRCH: there are none any more; or -ENOMEM. */
int ring_threads_list(struct ring_threads *threads, const struct event_filter *filter);

/*
 * What samples do not say about their tasks: the name, which life of its pid and which program it
 * was, and whether it was asked for, or descends from the command. Taken from /proc at the
 * beginning, and from then on from the rings, in order.
 */

/* By tid; what belongs to a process is with its first thread, whose tid is the pid. */
struct ring_task_state {
    char comm[COMM_BYTES];
    uint64_t generation;    /* as in insns/layout.h: of a process */
    uint32_t pid;     /* 0: nothing is known about that thread */
    uint32_t threads; /* of a process */
    uint64_t event;   /* the event that samples it; 0: none yet */
    /* the real user + 1, as of the round in which it was last asked for; 0: unknown */
    uint32_t user;
    uint32_t user_round;
    uint8_t asked;    /* enum asked_for */
    bool followed;
};

struct ring_tasks {
    struct ring_task_state *tasks;
    size_t count; /* how many numbers there may be */
    uint32_t held; /* followed once it executes something; 0: none */
    uint32_t round; /* of reading, from 1 */
    struct scope *scope; /* which processes and threads are asked for */
    bool follows; /* these processes' children are followed */
    bool of_command; /* nothing is reported about others, which get numbers that are free again */
};

/* `scope` stays the caller's. 0 or a negative errno; ring_tasks_close after either. */
int ring_tasks_open(struct ring_tasks *tasks, struct scope *scope);
void ring_tasks_close(struct ring_tasks *tasks);

/* Takes what /proc has about all threads, or, if one process is named, about that. */
void ring_tasks_look(struct ring_tasks *tasks);

/* The thread of a sample: never NULL. An unknown one is looked up. */
struct ring_task_state *ring_tasks_of(struct ring_tasks *tasks, uint32_t pid, uint32_t tid);
/* Does it descend from the command, or from those whose children are followed? */
bool ring_tasks_follow(struct ring_tasks *tasks, uint32_t pid, uint32_t tid);
/* Its process. */
struct ring_task_state *ring_tasks_process(struct ring_tasks *tasks, uint32_t pid);

/* What comes is read some time after it happened: users are asked for anew. */
void ring_tasks_begin_round(struct ring_tasks *tasks);
/* Are the thread and its process such as the filter asks for, if it asks for any? */
bool ring_tasks_want(struct ring_tasks *tasks, uint32_t pid, uint32_t tid);

/* That process did something at that time. */
void ring_tasks_see(struct ring_tasks *tasks, uint32_t pid, uint64_t time);
/* Applies what was reported at that time. */
void ring_tasks_take(struct ring_tasks *tasks, const struct ring_task *task, uint64_t time);

#endif
