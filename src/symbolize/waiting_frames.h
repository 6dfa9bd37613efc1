/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which frames at the leaf of a stack only lead to a wait or a wakeup: the scheduler, what is
 * directly built on it, the ways in and out of the kernel. A thread waits in the first frame that
 * is none of these.
 */
#ifndef STACKBOX_SYMBOLIZE_WAITING_FRAMES_H
#define STACKBOX_SYMBOLIZE_WAITING_FRAMES_H

#include "symbolize/symbolize.h"

/* What the kernel itself skips for /proc/PID/wchan: two sections of its text. */
struct waiting_text {
    uint64_t starts[2], ends[2]; /* 0: unknown */
};

/* Reads /proc/kallsyms, open as `kallsyms`. 0 or a negative errno; without addresses names decide. */
int waiting_text_find(struct waiting_text *text, int kallsyms);
bool waiting_text_has(const struct waiting_text *text, const struct symbol *symbol);

#endif
