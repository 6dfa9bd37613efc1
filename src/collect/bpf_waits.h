/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A collector of waits, by BPF programs (insns/offwake.c, wall.c) that write to a store and to a
 * map of waiting threads.
 */
#ifndef STACKBOX_COLLECT_BPF_WAITS_H
#define STACKBOX_COLLECT_BPF_WAITS_H

#include "collect/bpf_counts.h"
#include "drain/drain_wall.h"
#include "maps/waits.h"

struct bpf_waits {
    struct bpf_counts counts;
    struct waits waits;
    struct walling walling; /* of VIEW_WALL */
    bool has_ended; /* the last report was made: it is known who still waits */
};

/* An empty one, which may be closed. Takes the fields of `waits` down to `unfinished`. */
void bpf_waits_init(struct bpf_waits *collector, const struct store_wishes *wishes,
                    const struct waits *waits);

#endif
