/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Shared by ring_events.c and ring_cpus.c only. */
#ifndef STACKBOX_RINGS_RING_CPUS_H
#define STACKBOX_RINGS_RING_CPUS_H

#include "rings/ring_events.h"

/*
 * Opens the rings of all CPUs that are online. 0 or a negative errno; rings_close_cpus after
 * either.
 */
int rings_open_cpus(struct rings *rings);
void rings_close_cpus(struct rings *rings);

/* An event that only reports tasks. */
struct perf_event_attr rings_teller(const struct rings *rings);
/*
 * Opens the task event and everything asked for on the CPU with that index. 0 or a negative errno.
 */
int rings_open_events(struct rings *rings, size_t at);
/* Closes the events of all tasks on a CPU that is gone. */
void rings_close_dead(struct rings *rings, struct rings_cpu *cpu);

#endif
