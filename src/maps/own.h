/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The map of the tracer's own processes (insns/layout.h), in which programs look up whether an
 * event is ours. It is written through shared memory, if the kernel allows that: a bpf(2) call
 * would keep programs from running meanwhile.
 */
#ifndef STACKBOX_MAPS_OWN_H
#define STACKBOX_MAPS_OWN_H

#include <stdbool.h>
#include <stdint.h>

struct own {
    int map;        /* 0: there is none */
    uint32_t *pids; /* OWN_PROCESSES of them, shared with forked processes */
    bool is_copied; /* they are copied into the map: it cannot be shared (before 5.5) */
};

/* Adds this process. 0 or a negative errno, and nothing to close. */
int own_open(struct own *own);
/* The same in memory only, without a map: for lookups from here. */
int own_open_in_memory(struct own *own);
void own_close(struct own *own);

/* As an apart_watcher, of a struct own. */
void own_watch(void *own, bool begins, unsigned role);

#endif
