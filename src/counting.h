/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What applets that count share: the rights and sizes before, the reports in between, the account
 * after. It speaks to the user. An applet calls it in this order:
 *
 *     counting_open        signals, the filter, the maps
 *     (its program, made with counting.store and counting.filter, attached by itself)
 *     counting_header      says that tracing runs
 *     counting_run         from here events are counted; reports until the end
 *     counting_close       after the applet has detached
 */
#ifndef STACKBOX_COUNTING_H
#define STACKBOX_COUNTING_H

#include "insns/filter.h"
#include "kernel/lives.h"
#include "kernel/store.h"
#include "output/report.h"
#include "run.h"
#include "symbols/symbolize.h"
#include "tally.h"
#include "trace_options.h"

struct counting {
    const struct trace_options *options;
    struct report_options report; /* the applet may change what is its own */
    const char *const *traced;    /* names of traced kernel functions, sorted; the applet's */
    size_t traced_count;
    struct run run;
    struct event_filter filter;
    struct store store;
    struct lives lives;
    struct tally tally;
    struct losses losses; /* of the whole run */
    uint64_t events;      /* likewise: what the reports add up to */
    int kallsyms;         /* open, or below 0 */
    struct processes *processes; /* who has what mapped; NULL where no user stack is shown */
    struct symbolize_notes notes;
};

/* Which programs will count: it decides how stacks are kept. */
struct counting_wishes {
    bool kernel_events, user_events;
};

/* 0, or what the process is to exit with; what was wrong was said. counting_close after either. */
int counting_open(struct counting *counting, const struct trace_options *options,
                  const struct counting_wishes *wishes);

/*
 * Prints `what`, such as `Tracing 1 functions for "vfs_read"`, and how to end it: on stdout, or on
 * stderr where stdout is for data alone.
 */
void counting_header(struct counting *counting, const char *what);

/* Counts and reports until the run ends, and says what was lost. 0 or the exit status. */
int counting_run(struct counting *counting);

void counting_close(struct counting *counting);

#endif
