/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Waits, from the scheduler's tracepoints in rings of all CPUs: which of them count, and under
 * which party, is as in insns/offwake.c.
 */
#ifndef STACKBOX_RINGS_RING_WAITS_H
#define STACKBOX_RINGS_RING_WAITS_H

#include "kernel/tracefs.h"
#include "maps/waits.h"
#include "rings/ring_source.h"

struct ring_waits_wishes {
    struct scope *scope;
    struct ring_unwind *unwind;
    enum offwake_view view;
    enum offwake_threads threads;
    uint32_t states; /* of STATE_BLOCKED: those that count */
    bool runnable;   /* being runnable but not running counts, too */
    bool kernel, user;
    uint64_t depth, stacks;
};

struct ring_waits {
    struct collector collector;
    struct ring_waits_wishes wishes;
    struct ring_source source;
    struct ring_table table;
    struct waits *waits;     /* limits of times; and what is known after the last report */
    struct ring_wait **by_tid; /* indexed by tid, as in the tracepoints */
    size_t count;
    struct tracefs_field next_pid, prev_pid, prev_state, pid;
    uint64_t seen, ends_unseen, open, table_full, unfit;
};

/* `waits` is the caller's, without a map, and outlives the collector. */
void ring_waits_init(struct ring_waits *collector, const struct ring_waits_wishes *wishes, struct waits *waits);
/*
 * Attaches to the tracepoints, in an open directory. 0 or a negative errno, with the refused one in
 * `event`.
 */
int ring_waits_attach(struct ring_waits *collector, int tracefs, const char **event);

#endif
