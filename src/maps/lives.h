/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Keeps the maps of lives (insns/layout.h) while tracing runs: which program a process ran when, and
 * whose a pid was, is then told by the events themselves.
 */
#ifndef STACKBOX_MAPS_LIVES_H
#define STACKBOX_MAPS_LIVES_H

#include <stdint.h>

#include "insns/life.h"
#include "kernel/tracepoint.h"

struct lives {
    struct life_maps maps;
    uint32_t most_ended;
    struct tracepoint begins, ends;
};

/* Lives that hold nothing, which lives_close takes. */
void lives_init(struct lives *lives);

/*
 * From here on the maps are kept. 0, or a negative errno: this kernel or our rights do not allow it, and
 * the maps are closed. lives_close after either.
 */
int lives_open(struct lives *lives);
void lives_close(struct lives *lives);

/* Execs and ends that the kernel kept from the programs (5.12). */
uint64_t lives_missed(const struct lives *lives);

/*
 * Execs that there was no room for among the programs that live: they are kept beside those that
 * ended, and forgotten as those are. With `forgets`, whether any of either may have been by now.
 */
uint64_t lives_crowded_out(const struct lives *lives, bool *forgets);

#endif
