/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The collectors without bpf(2): counts, waits and single events, from perf's rings. */
#ifndef STACKBOX_RINGS_RING_COLLECTORS_H
#define STACKBOX_RINGS_RING_COLLECTORS_H

#include "kernel/tracefs.h"
#include "rings/ring_source.h"
#include "store/store.h"
#include "store/waits.h"

/* What collectors that count have in common. */
struct ring_counter {
    struct ring_source source;
    struct tally table;
    uint64_t table_full; /* events, since the beginning */
};

/* Counts stacks in user space, from perf's rings, without a BPF program. */
struct ring_counts {
    struct ring_counter counter; /* attach with ring_source_add() */
    struct callers callers;
};

/* The options may still be changed until the collector is opened. */
void ring_counts_init(struct ring_counts *counts, const struct ring_options *options);

/* How many entries a table may have between two looks: as many as asked for, or by free memory. */
size_t ring_table_most(uint64_t asked);
/* What is new in a table with such a limit, under its lock. */
enum tally_news ring_table_look(const struct tally *table, pthread_mutex_t *lock);
/* As in counter_calls and collector_calls. */
enum tally_news ring_counter_look(struct collector *collector);
void ring_counter_add_losses(const struct collector *collector, struct losses *losses);
int ring_counter_collect(struct ring_counter *counter, bool again, struct tally *tally);

/*
 * Measures waits by the scheduler's tracepoints in the rings of all CPUs. Which waits count, and
 * under which task, is as in insns/offwake.c.
 */

struct ring_waits {
    struct ring_counter counter;
    bool kernel, user;       /* stacks that are shown */
    struct waits *waits;     /* limits of times; and what is known after the last report */
    struct ring_wait **by_tid; /* indexed by tid, as in the tracepoints */
    size_t count;
    struct tracefs_field next_pid, prev_pid, prev_state, pid;
    uint64_t seen, ends_unseen, open, unfit;
};

/* `waits` is the caller's, without a map, and outlives the collector. */
void ring_waits_init(struct ring_waits *collector, const struct ring_options *options,
                     struct waits *waits);
/*
 * Attaches to the tracepoints, in an open directory. 0 or a negative errno, with the refused one in
 * `event`.
 */
int ring_waits_attach(struct ring_waits *collector, int tracefs, const char **event);

/* Single events, from perf's rings. */
struct ring_snoops {
    struct ring_source source; /* attach with ring_source_add() */
    struct snoop_record *record;
    collector_take *take; /* of the current reading */
    void *taking;
    int taken;
    bool has_stopped;
};

void ring_snoops_init(struct ring_snoops *snoops, const struct ring_options *options);

#endif
