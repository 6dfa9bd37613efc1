/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The threads that a filter names, as they are now: for events that are not everybody's. */
#ifndef STACKBOX_RINGS_RING_THREADS_H
#define STACKBOX_RINGS_RING_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "insns/filter.h"

struct ring_threads {
    uint32_t *tids; /* the caller frees it */
    size_t count, room;
};

/* Adds one. 0 or -ENOMEM. */
int ring_threads_add(struct ring_threads *threads, uint32_t tid);
/* 0, or -ESRCH: there are none any more; or -ENOMEM. */
int ring_threads_list(struct ring_threads *threads, const struct event_filter *filter);

#endif
