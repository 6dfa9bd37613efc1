/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Shared by applets that count: rights and sizes before, reports in between, the account after. It
 * speaks to the user. An applet calls it in this order:
 *
 *     counting_open        signals, the filter, the collector
 *     (its program, made with what the collector has and counting.session.scope, attached by itself)
 *     counting_start       counts events from now on
 *     session_header       says that tracing runs
 *     counting_run         reports until the end
 *     counting_close       after the applet has detached
 */
#ifndef STACKBOX_COUNTING_COUNTING_H
#define STACKBOX_COUNTING_COUNTING_H

#include "collect/collector.h"
#include "counting/cut_stacks.h"
#include "counting/live.h"
#include "report/facts.h"
#include "report/report_files.h"
#include "session/session.h"
#include "session/traced_program.h"
#include "tally/tally.h"

/* What an applet does with what was just collected; `again` as for collect. */
typedef int counting_complete(void *context, bool again, struct tally *tally);

struct counting {
    const struct trace_options *options;
    struct report_files files; /* where reports go */
    uint64_t reports;          /* how many were written */
    struct facts facts;
    struct traced_program program; /* looked for if a format names it */
    struct report_options report; /* the applet may set its own parts */
    const char *const *traced;    /* names of traced kernel functions, sorted; the applet's */
    size_t traced_count;
    bool at_tracepoints;          /* and nowhere else: the frames that lead to them are left out */
    struct session session;
    struct collector *collector;
    /* Or NULL. */
    counting_complete *complete;
    void *completing;
    /* Called some times a second during the run; or NULL. */
    void (*tick)(void *context);
    void *ticking;
    /* Adds further losses; or NULL. */
    void (*add_losses)(void *context, struct missing *missing);
    void *losing;
    struct tally tally;
    uint64_t bytes;       /* of kernel memory, as last reported with --debug */
    uint64_t events;      /* likewise: those in reports, and in the tally for the next */
    bool has_all;         /* nothing is left in the tables */
    bool does_not_close;  /* at some report, events were unaccounted for */
    struct cut_stacks cut;
    struct live live;
    struct collector_account reported; /* the account at the last report */
    size_t merged;        /* the tally's entries when they were last merged */
    uint64_t next_gather, next_look; /* when to check again, ns */
};

/*
 * Opens the collector, too, which counting_close closes. 0, or the exit status, with errors
 * reported. counting_close after either.
 */
int counting_open(struct counting *counting, const struct trace_options *options,
                  struct collector *collector);

/* Counts from here on: whoever reads that tracing runs may rely on it. 0 or the exit status. */
int counting_start(struct counting *counting);

/* Reports until the run ends, and says what was lost. 0 or the exit status. */
int counting_run(struct counting *counting);

/*
 * What became of the events that programs saw: with --debug, and whenever it does not add up.
 * `missed`: events that the kernel skipped.
 */
void counting_say_account(const struct counting *counting, uint64_t missed);

/* As session_close: returns the final exit status; `status` is the one so far. */
int counting_close(struct counting *counting, int status);

#endif
