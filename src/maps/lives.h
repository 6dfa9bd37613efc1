/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Maintains the maps of lives (insns/layout.h) while tracing runs: events then tell which program a
 * process was running, and whose a pid was.
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

/* An empty struct, which lives_close accepts. */
void lives_init(struct lives *lives);

/*
 * Maintains the maps from now on, for processes of the filter's pid namespace. 0, or a negative errno: this kernel or our rights do not allow
 * it, and the maps are closed. lives_close after either.
 */
int lives_open(struct lives *lives, const struct event_filter *filter);
void lives_close(struct lives *lives);

/* Execs and exits that the kernel did not pass to the programs (5.12). */
uint64_t lives_missed(const struct lives *lives);

/*
 * Execs for which there was no room among live programs: they are kept with those that ended, and
 * forgotten like them. *forgets: may any of either have been forgotten by now?
 */
uint64_t lives_crowded_out(const struct lives *lives, bool *forgets);

#endif
