/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which frames at the leaf of a stack only lead to a wait, or to a wake: the scheduler, what is built on
 * it alone, the ways in and out of the kernel. Where a thread waits is the first that is none of them.
 */
#ifndef STACKBOX_SYMBOLIZE_WAITING_FRAMES_H
#define STACKBOX_SYMBOLIZE_WAITING_FRAMES_H

#include "symbolize/symbolize.h"

/* What the kernel itself takes for that, for /proc/PID/wchan: two sections of its text. */
struct waiting_text {
    uint64_t starts[2], ends[2]; /* 0: not known */
};

/* Reads /proc/kallsyms, open as `kallsyms`. 0 or a negative errno; without addresses names decide. */
int waiting_text_find(struct waiting_text *text, int kallsyms);
bool waiting_text_has(const struct waiting_text *text, const struct symbol *symbol);

#endif
