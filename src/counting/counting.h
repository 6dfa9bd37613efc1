/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What applets that count share: the rights and sizes before, the reports in between, the account
 * after. It speaks to the user. An applet calls it in this order:
 *
 *     counting_open        signals, the filter, the collector
 *     (its program, made with what the collector has and counting.session.scope, attached by itself)
 *     counting_start       from here events are counted
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

/* What an applet does with what was just collected, `again` being as with collect. */
typedef int counting_complete(void *context, bool again, struct tally *tally);

struct counting {
    const struct trace_options *options;
    struct report_files files; /* where reports go */
    uint64_t reports;          /* how many went there */
    struct facts facts;
    struct traced_program program; /* looked for where a format says what it is of */
    struct report_options report; /* the applet may change what is its own */
    const char *const *traced;    /* names of traced kernel functions, sorted; the applet's */
    size_t traced_count;
    bool at_tracepoints;          /* and nowhere else: the way to them is no part of the stacks */
    struct session session;
    struct collector *collector;
    /* Or NULL. */
    counting_complete *complete;
    void *completing;
    /* Called some times a second while it runs, or NULL. */
    void (*tick)(void *context);
    void *ticking;
    /* Adds what else is missing, or NULL. */
    void (*add_losses)(void *context, struct missing *missing);
    void *losing;
    struct tally tally;
    uint64_t bytes;       /* of the kernel's memory, as was said last with --debug */
    uint64_t events;      /* likewise: those in the reports, and in the tally for the next */
    bool has_all;         /* nothing is left in the tables */
    bool does_not_close;  /* at a report, events were seen of which nothing is known */
    struct cut_stacks cut;
    struct live live;
    struct collector_account reported; /* as the account was at the last report */
    size_t merged;        /* entries of the tally when they were last merged */
    uint64_t next_gather, next_look; /* when to think of it again, ns */
};

/*
 * Opens the collector, too, which counting_close closes. 0, or what the process is to exit with; what was
 * wrong was said. counting_close after either.
 */
int counting_open(struct counting *counting, const struct trace_options *options,
                  struct collector *collector);

/* Whoever reads that tracing runs may rely on it. 0 or the exit status. */
int counting_start(struct counting *counting);

/* Reports until the run ends, and says what was lost. 0 or the exit status. */
int counting_run(struct counting *counting);

/*
 * What became of the events that the programs saw: with --debug, and whenever it does not add up.
 * `missed`: events that the kernel skipped.
 */
void counting_say_account(const struct counting *counting, uint64_t missed);

/* As session_close: returns what the process is to exit with, `status` as yet. */
int counting_close(struct counting *counting, int status);

#endif
