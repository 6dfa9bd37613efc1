/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The counters that arm USDT probes: a program reaches such a probe only while its counter, in the
 * program's memory, is not 0. Kernels since 4.20 raise it themselves; older ones accept it and do
 * nothing. Then we raise it, in the memory of the one process asked for.
 */
#ifndef STACKBOX_ATTACH_SEMAPHORES_H
#define STACKBOX_ATTACH_SEMAPHORES_H

#include <stddef.h>
#include <stdint.h>

#include "find/place.h"

/* Zeroed, it is empty. */
struct semaphores {
    int memory; /* of the process, if `count` is not 0: a later process with its pid has another */
    uint64_t *addresses;
    size_t count, room;
};

/*
 * For a place that has one, in a running process. 0 or a negative errno: -ENOENT, its file is not
 * mapped there.
 */
int semaphores_raise(struct semaphores *semaphores, const struct place *place, uint32_t pid);

/*
 * Lowers each as often as it was raised. A process that has ended, or runs another program, no
 * longer has any of them.
 */
void semaphores_lower(struct semaphores *semaphores);

#endif
