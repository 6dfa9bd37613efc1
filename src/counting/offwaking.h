/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A run of the applets that sum up threads' time, from the maps to the last report. It speaks to
 * the user.
 */
#ifndef STACKBOX_COUNTING_OFFWAKING_H
#define STACKBOX_COUNTING_OFFWAKING_H

#include "insns/offwake.h"
#include "session/trace_options.h"

struct offwaking_wishes {
    struct trace_options *trace;
    enum offwake_view view;
    enum offwake_threads threads;
    uint32_t states;      /* of STATE_BLOCKED: those that count */
    const char *letters;  /* the same as in /proc */
    bool runnable;        /* being runnable but not running counts, too */
    uint64_t least, most; /* ns: shorter or longer waits do not count */
    bool pairs;           /* the text is who waits for whom, without stacks */
    bool unfinished;      /* waits that had not ended go into the last report */
    uint64_t frequency;   /* of VIEW_WALL: samples per second on each CPU */
};

/* Returns the exit status, with errors reported. */
int offwaking_run(const struct offwaking_wishes *wishes);

#endif
