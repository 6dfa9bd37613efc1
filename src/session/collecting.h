/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which collector a run has: programs in the kernel, or perf's rings. It speaks to the user. */
#ifndef STACKBOX_SESSION_COLLECTING_H
#define STACKBOX_SESSION_COLLECTING_H

#include "session/trace_options.h"

/*
 * Sets options->by_rings. Unless --collect says which, it is rings where bpf(2) is missing, refused or too old for
 * stacks, and rings are not refused as well; that is said in a line. `own_suffice`: events of the processes
 * that were named, or of the command, are all that is needed.
 */
void collecting_choose(struct trace_options *options, bool own_suffice);

#endif
