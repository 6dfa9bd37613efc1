/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The kernel's stack at a tracepoint may begin with functions that only lead to the BPF program. */
#ifndef STACKBOX_SYMBOLIZE_TRACING_FRAMES_H
#define STACKBOX_SYMBOLIZE_TRACING_FRAMES_H

#include "symbolize/symbolize.h"
#include "tally/tally.h"

/* Is it such a function? */
bool tracing_frames_has(const struct symbol *symbol);

/*
 * Removes such frames from the leaves of the tally's kernel stacks, and from the symbols made of
 * it. A stack of nothing else stays as it is.
 */
void tracing_frames_drop(struct tally *tally, struct symbols *symbols);

#endif
