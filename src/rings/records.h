/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Parses records of perf's ring buffers, trusting nothing in them, and reads them in time order. */
#ifndef STACKBOX_RINGS_RECORDS_H
#define STACKBOX_RINGS_RECORDS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/ring_buffers.h"

/* The parts of each sample. All but the address and the callchain also end every other record. */
#define RECORD_SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | \
                            PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN)

enum record_kind {
    RECORD_OTHER, /* ignored, or of a kind unknown here: its time may be 0 */
    RECORD_SAMPLE,
    RECORD_TASK,  /* a fork, an exec, a name, an exit */
    RECORD_LOST,  /* how many records were lost, of whatever kind */
    RECORD_THROTTLE,
    RECORD_BROKEN, /* its parts do not fit into it */
};

/* Points into the record. */
struct ring_sample {
    uint64_t event; /* its perf_id */
    uint32_t pid, tid, cpu;
    const uint64_t *kernel, *user; /* frames, leaf first */
    size_t kernel_count, user_count;
    const unsigned char *raw; /* of a tracepoint or a probe: its fields, by offset; or NULL */
    size_t raw_size;
    /* user registers, a word for each bit of the shape's mask; NULL: this code is not walked */
    const void *registers;
    bool in_kernel;        /* the registers are those that the kernel saved on entry */
    const void *stack;     /* from the stack pointer on */
    size_t stack_bytes;
};

enum ring_task_kind {
    RING_TASK_FORKED, /* `by` is the thread that forked */
    RING_TASK_NAMED,
    RING_TASK_EXECS, /* sets the name, too */
    RING_TASK_ENDED,
};

struct ring_task {
    enum ring_task_kind kind;
    uint32_t pid, tid, by;
    const char *name;
};

struct ring_record {
    enum record_kind kind;
    uint64_t time; /* CLOCK_MONOTONIC, ns */
    union {
        struct ring_sample sample;
        struct ring_task task;
        uint64_t lost;
    };
};

/* What records contain. */
struct record_shape {
    bool raw; /* samples have PERF_SAMPLE_RAW, too */
    uint64_t registers; /* mask of PERF_SAMPLE_REGS_USER, with PERF_SAMPLE_STACK_USER; 0: neither */
    bool narrow;        /* 32-bit code is walked, not 64-bit code */
};

/*
 * Parses a record of `size` bytes from an event with RECORD_SAMPLE_TYPE. `bytes` is aligned to 8,
 * with room for one more byte; the parser writes there and over the end of the record.
 */
void ring_record_parse(char *bytes, size_t size, const struct record_shape *shape,
                       struct ring_record *record);

/*
 * Reads the rings of all CPUs as one: each record once, in time order. Records newer than `until`
 * stay in their ring, as another CPU may still be writing an earlier one.
 */

struct ring {
    struct perf_ring ring;
    unsigned cpu;
    bool of_tasks;     /* it has task records: what it loses are not samples */
    uint64_t at, head; /* positions: of the next record, and of the end of what is there */
    bool was_full;     /* at the last look, it may have had no room for another record */
    size_t size;       /* of the next record; 0: there is none */
    struct ring_record next;
    struct throttle throttle; /* its records come in this ring: it has none of its own */
    char *bytes; /* room for a record and one byte */
};

/* 0, or a negative errno, which ends reading. */
typedef int ring_take_record(void *context, const struct ring_record *record);

struct ring_reading {
    struct ring *rings;
    size_t count;
    struct record_shape shape;
    uint64_t samples, lost, tasks_lost, broken; /* counts of what was read */
    /* samples from before this time may be missing among those handed out from now on */
    uint64_t whole_since;
};

/*
 * Takes over event `fd`, whose ring has `bytes` of data. 0 or a negative errno; ring_close after
 * either.
 */
int ring_open(struct ring *ring, unsigned cpu, int fd, size_t bytes);
void ring_close(struct ring *ring);

/* Hands out samples and task events: 0, what `take` returned, or -ENOMEM. */
int rings_read(struct ring_reading *reading, uint64_t until, ring_take_record *take, void *context);

#endif
