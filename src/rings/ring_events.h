/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rings and the events that write into them: one ring for each CPU, and beside what is asked for all that
 * happens to tasks, by which samples get names. Of everybody, or, where only that is allowed or it is a command's,
 * of tasks and of what they fork: such an event, too, has to be one for each CPU, as a ring is.
 */
#ifndef STACKBOX_RINGS_RING_EVENTS_H
#define STACKBOX_RINGS_RING_EVENTS_H

#include "base/text.h"
#include "rings/ring.h"

struct rings_wishes {
    int64_t cpu;          /* -1: all that are online */
    const uint32_t *tids; /* of these tasks, with all that they fork; none: of everybody */
    size_t tid_count;
    bool alone;           /* without what they fork */
    bool from_exec;       /* events begin when the task executes something */
    int cgroup;           /* an open directory, or 0; not of tasks */
    bool kernel, user;    /* which stacks */
    bool raw;             /* fields of tracepoints and probes */
    uint64_t registers;   /* of users, with so many bytes of their stacks; 0: neither */
    uint32_t stack_bytes;
};

/* What overflows, and how often: as struct perf_event_attr has it. */
struct rings_event {
    uint32_t type;
    uint64_t config, config1, config2;
    uint64_t period;       /* 0: 1 */
    bool by_frequency;
    bool leaves_idle_out;
};

struct rings {
    struct rings_wishes wishes;
    struct ring_reading reading;
    size_t room, bytes;     /* of each ring's data */
    int *events;            /* that are asked for, */
    uint32_t *numbers;      /* and as what, one for each of `events`, */
    uint64_t *ids;          /* with what samples name them by */
    size_t count, events_room, numbers_room, ids_room;
    int *others;            /* what tells of tasks, and of us */
    size_t other_count, others_room;
    bool user_part_alone;   /* the kernel's is not ours to see */
};

/* 0 or a negative errno; rings_close after either. */
int rings_open(struct rings *rings, const struct rings_wishes *wishes);
void rings_close(struct rings *rings);
/* What was asked for alone, when all is read. */
void rings_close_events(struct rings *rings);

/*
 * An event of that kind on each CPU, not armed yet; its samples are rings_number()'s `number`. 0 or a
 * negative errno.
 */
int rings_add(struct rings *rings, const struct rings_event *event, uint32_t number);
/* Of a sample: the number of its event, or UINT32_MAX. */
uint32_t rings_number(const struct rings *rings, uint64_t id);

/* Arms all, or makes them stop. 0 or a negative errno. */
int rings_start(struct rings *rings);
int rings_stop(struct rings *rings);
/*
 * Has what was lost behind the last record told: the kernel does so with the next one, and here is one. To be
 * called by who opened the rings, when they are read out.
 */
void rings_have_losses_told(const struct rings *rings);

/* For how long (ns) the kernel stopped events that came too fast, and how often. */
void rings_stopped(const struct rings *rings, uint64_t *times, uint64_t *nanoseconds);

#endif
