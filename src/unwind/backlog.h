/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads programs' ring of kept stacks as fast as they fill it, whatever else we are doing: a thread
 * that comes before other tasks copies them from there, without what their records left unused.
 */
#ifndef STACKBOX_UNWIND_BACKLOG_H
#define STACKBOX_UNWIND_BACKLOG_H

#include <pthread.h>

#include "base/text.h"
#include "kernel/ring_buffers.h"

struct backlog {
    struct bpf_ring ring;
    int bell;             /* readable once the thread has copied something; below 0: none */
    int stop;             /* and once the thread is to end */
    size_t most;          /* bytes copied */
    struct text copied;   /* each record after a word with its size */
    uint64_t dropped;     /* records for which there was no memory */
    bool has_reader, ends;
    pthread_t reader;
    pthread_mutex_t lock; /* of all this while the thread runs */
};

/* ring_bytes 0: there is no ring. 0 or a negative errno; backlog_close after either. */
int backlog_open(struct backlog *backlog, size_t ring_bytes, size_t most);
void backlog_close(struct backlog *backlog);

/* From now on a thread reads; without it backlog_take() does. It has the rights that we have now. */
void backlog_begin(struct backlog *backlog);

/* Hands out what there is now, oldest first. How many, or a negative errno. */
int backlog_take(struct backlog *backlog, ring_take *take, void *context);

#endif
