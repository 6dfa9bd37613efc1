/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "session/collecting.h"

void collecting_choose(struct trace_options *options)
{
    options->by_rings = options->collect == COLLECT_RINGS;
}
