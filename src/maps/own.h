/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The map of the processes that trace (insns/layout.h), which programs ask whether an event is of one of
 * them. It is written to as memory, where the kernel shares it: a call of bpf(2) would keep programs from
 * running meanwhile.
 */
#ifndef STACKBOX_MAPS_OWN_H
#define STACKBOX_MAPS_OWN_H

#include <stdbool.h>
#include <stdint.h>

struct own {
    int map;        /* 0: there is none */
    uint32_t *pids; /* OWN_PROCESSES of them, shared with processes that are forked */
    bool is_copied; /* these are copied into the map: the kernel shares none (before 5.5) */
};

/* This process is one of them. 0 or a negative errno, and nothing to close. */
int own_open(struct own *own);
/* The same in memory alone, without a map: for who asks from here. */
int own_open_in_memory(struct own *own);
void own_close(struct own *own);

/* As an apart_watcher, of a struct own. */
void own_watch(void *own, bool begins, unsigned role);

#endif
