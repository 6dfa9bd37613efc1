/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tracepoints of system calls that may miss events. Since Linux 7.2 their programs can be
 * preempted, and the kernel skips all further hits of a program on that CPU meanwhile. The system
 * call's function has no such problem: it is entered after sys_enter and returns before sys_exit.
 */
#ifndef STACKBOX_FIND_EXACT_H
#define STACKBOX_FIND_EXACT_H

#include "base/text.h"
#include "find/place.h"

/*
 * If this kernel is such a one: the first of these places, with what to type instead in `pattern`.
 * NULL if there is none, or no function to trace instead.
 */
const struct place *exact_instead(const struct places *places, int kallsyms, struct text *pattern);

#endif
