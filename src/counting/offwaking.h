/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A run of the applets that sum up threads' time, from the maps to the last report. It speaks to the user. */
#ifndef STACKBOX_COUNTING_OFFWAKING_H
#define STACKBOX_COUNTING_OFFWAKING_H

#include "insns/offwake.h"
#include "session/trace_options.h"

struct offwaking_wishes {
    struct trace_options *trace;
    enum offwake_view view;
    enum offwake_threads threads;
    uint32_t states;      /* of STATE_BLOCKED: those that count */
    const char *letters;  /* the same as /proc shows them */
    bool runnable;        /* being able to run and not running counts, too */
    uint64_t least, most; /* ns: a wait of less or more does not count */
    bool pairs;           /* who waits for whom, without stacks, is the text */
    bool unfinished;      /* waits that had not ended go into the last report */
    uint64_t frequency;   /* of VIEW_WALL: samples per second on each CPU */
};

/* What the process is to exit with; what was wrong was said. */
int offwaking_run(const struct offwaking_wishes *wishes);

#endif
