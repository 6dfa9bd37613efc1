/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rings and the events that write into them. Each CPU has two, one for the events asked for and one
 * for task events, which give samples names, so that neither crowds the other out. Events are of
 * all tasks, or, for a command or if no more is allowed, of some tasks and what they fork. A task,
 * too, needs an event for each CPU, as it needs a ring for each.
 */
#ifndef STACKBOX_RINGS_RINGS_H
#define STACKBOX_RINGS_RINGS_H

#include <stdbool.h>

#include "base/text.h"
#include "rings/records.h"

struct rings_config {
    int64_t cpu;          /* -1: all */
    const uint32_t *tids; /* for these tasks, with all that they fork; none: for all */
    size_t tid_count;
    bool alone;           /* without what they fork */
    bool from_exec;       /* events begin with the task's first exec */
    bool events_of_all;   /* the events are of all tasks, and only task records of these */
    int cgroup;           /* an open directory, or 0; not with tasks */
    bool kernel, user;    /* which stacks */
    bool raw;             /* fields of tracepoints and probes */
    uint64_t bytes;       /* of all rings; 0: by free memory */
    uint64_t registers;   /* mask of user registers to sample, with the stack; 0: neither */
    uint32_t stack_bytes; /* of it, at most: so many samples must fit into a ring */
    uint32_t samples;
};

/* What overflows, and how often: as in struct perf_event_attr. */
struct rings_event {
    uint32_t type;
    uint64_t config, config1, config2;
    uint64_t period;       /* 0: 1 */
    bool by_frequency;
    bool leaves_idle_out;
    bool outside;          /* outside the cgroup, too */
};

struct rings_asked {
    struct rings_event event;
    uint32_t number;
};

struct rings_opened {
    int fd;          /* below 0: its CPU is gone */
    unsigned cpu;
    uint32_t number; /* UINT32_MAX: it reports tasks */
    uint64_t id;     /* in its samples */
};

/* Its rings stay when the CPU goes offline, and are still read. */
struct rings_cpu {
    unsigned cpu;
    bool is_told;   /* its task events are open */
    bool is_open;   /* its events of all tasks are open */
    size_t pulse;   /* the first of the latter: its time stops when the CPU goes offline */
    uint64_t armed; /* for how long (ns) that one had been armed at the last look */
};

enum rings_kind {
    RINGS_SAMPLES,
    RINGS_TASKS,
    RINGS_KINDS,
};

struct rings {
    struct rings_config config;
    struct ring_reading reading; /* two for each of `cpus` */
    size_t room, bytes;          /* of data in each ring */
    struct rings_cpu *cpus;
    size_t cpu_count, cpu_room;
    struct rings_asked *asked;
    size_t asked_count, asked_room;
    struct rings_opened *opened; /* by id */
    size_t count, opened_room;
    int saving;                  /* an event that makes the kernel save frame pointers, or 0 */
    bool user_part_alone;        /* we may not see the kernel's part */
    bool counts_lost;            /* each event's losses can be read; */
    uint64_t lost[RINGS_KINDS];  /* those of events that were closed, */
    uint64_t all_lost[RINGS_KINDS]; /* and of all, at the end */
    bool has_started;
    uint64_t looked;             /* when */
    unsigned came;               /* CPUs that came online while it ran */
    int refused;                 /* why one of those has no events */
    bool untold;                 /* there may be more losses than the kernel reported */
};

/*
 * 0 or a negative errno; -ENODEV: none of the CPUs asked for is online. rings_close after either.
 */
int rings_open(struct rings *rings, const struct rings_config *config);
void rings_close(struct rings *rings);
/* Closes all events, when everything is read. */
void rings_close_events(struct rings *rings);

/*
 * Adds an event of that kind on each CPU, not armed yet; rings_number() of its samples is `number`.
 * What it points to must outlive it. 0 or a negative errno.
 */
int rings_add(struct rings *rings, const struct rings_event *event, uint32_t number);
/* How many descriptors that many events take. */
size_t rings_descriptors(const struct rings *rings, size_t events);
/* The number of a sample's event, or UINT32_MAX. */
uint32_t rings_number(const struct rings *rings, uint64_t id);

/* Arms all events, or stops them. 0 or a negative errno. */
int rings_start(struct rings *rings);
int rings_stop(struct rings *rings);

/*
 * Opens events on CPUs that came online, or back online, since the last look; does nothing if
 * called too soon. Tasks have events on all CPUs from the beginning.
 */
void rings_look(struct rings *rings);
/*
 * Before 6.0 the kernel reports losses only with the next record that it writes: makes it write
 * one. To be called by the first thread of the process that opened the rings, once they are empty.
 */
void rings_have_losses_told(struct rings *rings);
/* Afterwards, when all is read: counts what no record reported. */
void rings_count_lost(struct rings *rings);
uint64_t rings_lost(const struct rings *rings, enum rings_kind kind);

/* For how long (ns) the kernel throttled events, and how often. */
void rings_stopped(const struct rings *rings, uint64_t *times, uint64_t *nanoseconds);

/*
 * Would the kernel let us collect through rings: events of all tasks, or only our own; including
 * the kernel, or only the user part? 0 or a negative errno.
 */
int rings_try(bool own, bool kernel);
/* Why that was refused and, after ": ", what to do about it. */
void rings_explain(int error, struct text *sentence);

#endif
