/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Tracepoints of system calls that may miss events. Since Linux 7.2 their programs can be preempted,
 * and the kernel keeps a program from all that comes to it on that CPU meanwhile. The function of the
 * call is traced without that: it is entered behind sys_enter, and returned from before sys_exit.
 */
#ifndef STACKBOX_FIND_EXACT_H
#define STACKBOX_FIND_EXACT_H

#include "base/text.h"
#include "find/place.h"

/*
 * Where this kernel is such a one: the first of such places, and in `pattern` what is to be typed in
 * its stead. NULL where there is none, or no function to be traced in its stead.
 */
const struct place *exact_instead(const struct places *places, int kallsyms, struct text *pattern);

#endif
