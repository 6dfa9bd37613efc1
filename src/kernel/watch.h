/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A look at what was counted so far, while the counting goes on: for who waits for the report. */
#ifndef STACKBOX_KERNEL_WATCH_H
#define STACKBOX_KERNEL_WATCH_H

#include "kernel/store.h"

struct watch {
    uint64_t events; /* in the tables: those that no report has had yet */
    uint64_t stacks; /* different ones of theirs */
    uint64_t lost;   /* not counted, since the start */
};

/*
 * Nothing is taken out. The tables are read while programs write to them, and while the kernel reads
 * an entry no program runs on this CPU: it is not for every moment. 0 or a negative errno: -ETIME
 * when there are so many that it would take too long.
 */
int store_watch(const struct store *store, struct watch *watch);

#endif
