/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A collector of counts, by BPF programs (insns/count.c) that write to a store. */
#ifndef STACKBOX_COLLECT_BPF_COUNTS_H
#define STACKBOX_COLLECT_BPF_COUNTS_H

#include "collect/collector.h"
#include "store/store.h"
#include "store/waits.h"

struct bpf_counts {
    struct collector collector;
    struct store_config config;
    struct store store; /* once open, programs are made with this */
    struct drain_losses losses;
};

/* An empty one, which may be closed. */
void bpf_counts_init(struct bpf_counts *counts, const struct store_config *config);

/*
 * A collector of waits, by BPF programs (insns/offwake.c, wall.c) that write to a store and to a
 * map of waiting threads.
 */

struct bpf_waits {
    struct bpf_counts counts;
    struct waits waits;
    struct wall_report report; /* of VIEW_WALL */
    bool has_ended; /* the last report was made: it is known who still waits */
};

/* An empty one, which may be closed. Takes the fields of `waits` down to `unfinished`. */
void bpf_waits_init(struct bpf_waits *collector, const struct store_config *config,
                    const struct waits *waits);

#endif
