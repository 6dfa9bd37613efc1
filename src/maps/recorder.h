/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Where programs put a record of each event, and where it is read: a ring buffer (5.8) or perf buffers,
 * the word that lets programs record, and the account of what was lost.
 */
#ifndef STACKBOX_MAPS_RECORDER_H
#define STACKBOX_MAPS_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "insns/layout.h"
#include "kernel/bpf_ring.h"
#include "kernel/perf_rings.h"
#include "maps/controls.h"

enum recorder_kind {
    RECORDER_BEST, /* the first of these that works */
    RECORDER_RING,
    RECORDER_PERF,
};

struct recorder_wishes {
    enum recorder_kind kind;
    uint64_t bytes;      /* of all buffers together; 0: by the memory that is there */
    uint64_t depth;      /* frames per stack; 0: the kernel's limit */
    uint32_t stacks;     /* how many an event has */
    size_t values;       /* and how many words besides */
};

struct recorder {
    enum recorder_kind kind; /* never RECORDER_BEST */
    uint32_t depth;
    uint64_t bytes;          /* of all buffers together */
    struct controls controls;
    struct bpf_ring ring;
    struct perf_rings buffers;
    uint64_t settled; /* no record will come any more whose time is before this */
};

/* A recorder that holds nothing, which recorder_close takes. */
void recorder_init(struct recorder *recorder);

/* Creates the maps; nothing is recorded yet. 0 or a negative errno; recorder_close after either. */
int recorder_open(struct recorder *recorder, const struct recorder_wishes *wishes);
void recorder_close(struct recorder *recorder);

/* The map that programs put records into. */
int recorder_buffer(const struct recorder *recorder);

/* Descriptors that are readable when there is something: the index-th, or below 0 behind the last. */
int recorder_fd(const struct recorder *recorder, size_t index);

/* From here on events are recorded. */
int recorder_start(struct recorder *recorder);
/* No more: when it returns all records are in the buffers. */
int recorder_stop(struct recorder *recorder);

/* Hands out what is there, in no order, and renews `settled`: how many, or a negative errno. */
int recorder_read(struct recorder *recorder, ring_take *take, void *context);

/* A program has its place in the buffer and has not filled it yet: there is nothing to wake us then. */
bool recorder_is_behind(const struct recorder *recorder);

/* Of all events since the beginning; exact when it was stopped. 0 or a negative errno. */
int recorder_account(const struct recorder *recorder, struct account *account);

#endif
