/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rings and the events that write into them: two for each CPU, one of what is asked for, and one of what
 * happens to tasks, by which samples get names; so neither crowds the other out. Of everybody, or, where only that
 * is allowed or it is a command's, of tasks and of what they fork: such an event, too, has to be one for each CPU,
 * as a ring is.
 */
#ifndef STACKBOX_RINGS_RING_EVENTS_H
#define STACKBOX_RINGS_RING_EVENTS_H

#include "base/text.h"
#include "rings/ring.h"

struct rings_wishes {
    int64_t cpu;          /* -1: all */
    const uint32_t *tids; /* of these tasks, with all that they fork; none: of everybody */
    size_t tid_count;
    bool alone;           /* without what they fork */
    bool from_exec;       /* events begin when the task executes something */
    int cgroup;           /* an open directory, or 0; not of tasks */
    bool kernel, user;    /* which stacks */
    bool raw;             /* fields of tracepoints and probes */
    uint64_t bytes;       /* of all rings; 0: by the memory that is there */
    uint64_t registers;   /* of users, with so many bytes of their stacks; 0: neither */
    uint32_t stack_bytes; /* or with less: so many samples are to fit into a ring */
    uint32_t samples;
};

/* What overflows, and how often: as struct perf_event_attr has it. */
struct rings_event {
    uint32_t type;
    uint64_t config, config1, config2;
    uint64_t period;       /* 0: 1 */
    bool by_frequency;
    bool leaves_idle_out;
    bool outside;          /* also outside of the cgroup */
};

struct rings_asked {
    struct rings_event event;
    uint32_t number;
};

struct rings_opened {
    int fd;          /* below 0: its CPU has gone */
    unsigned cpu;
    uint32_t number; /* UINT32_MAX: it tells of tasks */
    uint64_t id;     /* by which samples name it */
};

/* Its rings stay when it goes, and what is in them is read. */
struct rings_cpu {
    unsigned cpu;
    bool is_open;   /* its events are */
    size_t pulse;   /* of everybody: which of those opened stands still when it has gone, */
    uint64_t armed; /* and for how long (ns) that was armed when last looked at */
};

struct rings {
    struct rings_wishes wishes;
    struct ring_reading reading; /* two of each of `cpus` */
    size_t room, bytes;          /* of each ring's data */
    struct rings_cpu *cpus;
    size_t cpu_count, cpu_room;
    struct rings_asked *asked;
    size_t asked_count, asked_room;
    struct rings_opened *opened; /* by id */
    size_t count, opened_room;
    int saving;                  /* what has the kernel save frame pointers, or 0 */
    bool user_part_alone;        /* the kernel's is not ours to see */
    bool has_started;
    uint64_t looked;             /* when */
    unsigned came;               /* CPUs, while it ran */
    int refused;                 /* why one of those has no events */
};

/* 0 or a negative errno; -ENODEV: no CPU that was asked for is online. rings_close after either. */
int rings_open(struct rings *rings, const struct rings_wishes *wishes);
void rings_close(struct rings *rings);
/* All events, when all is read. */
void rings_close_events(struct rings *rings);

/*
 * An event of that kind on each CPU, not armed yet; its samples are rings_number()'s `number`. What it points to
 * has to outlive it. 0 or a negative errno.
 */
int rings_add(struct rings *rings, const struct rings_event *event, uint32_t number);
/* As so many take. */
size_t rings_descriptors(const struct rings *rings, size_t events);
/* Of a sample: the number of its event, or UINT32_MAX. */
uint32_t rings_number(const struct rings *rings, uint64_t id);

/* Arms all, or makes them stop. 0 or a negative errno. */
int rings_start(struct rings *rings);
int rings_stop(struct rings *rings);

/*
 * Events for CPUs that came, or went and came back, since the last look; a call that comes too early does nothing. Of
 * tasks there are events on all CPUs from the beginning.
 */
void rings_look(struct rings *rings);
/*
 * Has what was lost behind the last record told: the kernel does so with the next one, and here is one. To be
 * called by who opened the rings, when they are read out.
 */
void rings_have_losses_told(const struct rings *rings);

/* For how long (ns) the kernel stopped events that came too fast, and how often. */
void rings_stopped(const struct rings *rings, uint64_t *times, uint64_t *nanoseconds);

#endif
