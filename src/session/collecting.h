/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which collector a run has: programs in the kernel, or perf's rings. */
#ifndef STACKBOX_SESSION_COLLECTING_H
#define STACKBOX_SESSION_COLLECTING_H

#include "session/trace_options.h"

/* Sets options->by_rings: programs in the kernel, unless --collect says rings. */
void collecting_choose(struct trace_options *options);

#endif
