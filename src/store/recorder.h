/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A buffer of single events, and its records. */
#ifndef STACKBOX_STORE_RECORDER_H
#define STACKBOX_STORE_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "insns/layout.h"
#include "kernel/ring_buffers.h"
#include "store/store.h"

/* Turns a snoop_record from a buffer into a compact and safe one. */

struct snoop_shape {
    uint32_t depth;    /* frames per stack */
    bool kernel, user; /* which stacks it has */
    size_t values;     /* and this many words before them */
};

/*
 * Copies `size` bytes to a record with room for SNOOP_RECORD_BYTES(2, depth) and the values. In the
 * copy the user's frames follow the kernel's, without unused room, and then come the values.
 * Returns the bytes used; 0: it is not a whole record.
 */
size_t snoop_record_take(const void *bytes, size_t size, const struct snoop_shape *shape,
                         struct snoop_record *record);

const uint64_t *snoop_record_values(const struct snoop_record *record);

/* Bytes as frames; a negative number of bytes is 0. */
uint32_t snoop_record_frames(int32_t bytes);

/*
 * Where programs put a record of each event, and where it is read: a ring buffer (5.8) or perf
 * buffers, the word that turns recording on, and the account of lost events.
 */

enum recorder_kind {
    RECORDER_BEST, /* the first one that works */
    RECORDER_RING,
    RECORDER_PERF,
};

struct recorder_config {
    enum recorder_kind kind;
    uint64_t bytes;      /* of all buffers together; 0: by free memory */
    uint64_t depth;      /* frames per stack; 0: the kernel's limit */
    uint32_t stacks;     /* stacks per event */
    size_t values;       /* and words besides */
};

struct recorder {
    enum recorder_kind kind; /* never RECORDER_BEST */
    uint32_t depth;
    uint64_t bytes;          /* of all buffers together */
    struct controls controls;
    struct bpf_ring ring;
    struct perf_rings buffers;
    uint64_t settled; /* records still to come are not older than this */
};

/* An empty recorder, which recorder_close accepts. */
void recorder_init(struct recorder *recorder);

/* Creates the maps; nothing is recorded yet. 0 or a negative errno; recorder_close after either. */
int recorder_open(struct recorder *recorder, const struct recorder_config *config);
void recorder_close(struct recorder *recorder);

/* The map that programs write records to. */
int recorder_buffer(const struct recorder *recorder);

/*
 * Descriptors that become readable when there are records: the index-th, or below 0 after the last.
 */
int recorder_fd(const struct recorder *recorder, size_t index);

/* Records events from now on. */
int recorder_start(struct recorder *recorder);
/* Stops: when it returns, all records are in the buffers. */
int recorder_stop(struct recorder *recorder);

/*
 * Hands out what is there, unordered, and updates `settled`. Returns how many, or a negative errno.
 */
int recorder_read(struct recorder *recorder, ring_take *take, void *context);

/* A program has reserved a record but not filled it yet: no wakeup will arrive for it. */
bool recorder_is_behind(const struct recorder *recorder);

/* Of all events since the beginning; exact once stopped. 0 or a negative errno. */
int recorder_account(const struct recorder *recorder, struct account *account);

#endif
