/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What ring_events.c and ring_cpus.c have of each other. Of these two only. */
#ifndef STACKBOX_RINGS_RING_CPUS_H
#define STACKBOX_RINGS_RING_CPUS_H

#include "rings/ring_events.h"

/* The rings of all CPUs that are there. 0 or a negative errno; rings_close_cpus after either. */
int rings_open_cpus(struct rings *rings);
void rings_close_cpus(struct rings *rings);

/* Tells of tasks and nothing else. */
struct perf_event_attr rings_teller(const struct rings *rings);
/* What tells of tasks on the CPU of that index, and all that was asked for. 0 or a negative errno. */
int rings_open_events(struct rings *rings, size_t at);

#endif
