/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Parses one record of a ring whose events all have RECORD_SAMPLE_TYPE: a sample, or what the
 * kernel reports about tasks and lost records. Nothing in it is trusted.
 */
#ifndef STACKBOX_RINGS_RECORDS_H
#define STACKBOX_RINGS_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

/* What each sample has, and, except for the address and the stack, what ends every other record. */
#define RECORD_SAMPLE_TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
                            PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN)

enum record_kind {
    RECORD_OTHER, /* ignored, or of a newer kind than this: its time may be 0 */
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
    const void *registers; /* of user code that can be walked, words in the order of their bits; or NULL */
    const void *stack;     /* from the stack pointer on */
    size_t stack_bytes;
};

enum ring_task_kind {
    RING_TASK_FORKED, /* `by` is the thread that forked */
    RING_TASK_NAMED,
    RING_TASK_EXECS, /* which names it, too */
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
    uint64_t registers; /* and these PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER; 0: neither */
    bool narrow;        /* 32-bit code is walked, not 64-bit code */
};

/*
 * Parses the record of `size` bytes, aligned to 8 bytes and followed by a byte of room, which is
 * written to, as is the end of the record.
 */
void ring_record_parse(char *bytes, size_t size, const struct record_shape *shape, struct ring_record *record);

#endif
