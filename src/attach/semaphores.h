/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The counters that arm USDT probes: a program comes by such a probe only while its counter, in its own
 * memory, is not 0. Kernels count there themselves (4.20); before, they take what they are told of it and do
 * nothing. Then we count, in the memory of the one process that is asked for.
 */
#ifndef STACKBOX_ATTACH_SEMAPHORES_H
#define STACKBOX_ATTACH_SEMAPHORES_H

#include <stddef.h>
#include <stdint.h>

#include "find/place.h"

/* Zeroed, it holds nothing. */
struct semaphores {
    int memory; /* of the process, where `count` is not 0: another with its number would have another */
    uint64_t *addresses;
    size_t count, room;
};

/* Of a place that has one, in a process that runs. 0 or a negative errno: -ENOENT, its file is not mapped there. */
int semaphores_raise(struct semaphores *semaphores, const struct place *place, uint32_t pid);

/* Each as often as it was raised. A process that has ended, or runs another program, has none of them any more. */
void semaphores_lower(struct semaphores *semaphores);

#endif
