/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What applets that count share: the rights and sizes before, the reports in between, the account
 * after. It speaks to the user. An applet calls it in this order:
 *
 *     counting_open        signals, the filter, the maps
 *     (its program, made with counting.store and counting.session.filter, attached by itself)
 *     counting_start       from here events are counted
 *     session_header       says that tracing runs
 *     counting_run         reports until the end
 *     counting_close       after the applet has detached
 */
#ifndef STACKBOX_COUNTING_COUNTING_H
#define STACKBOX_COUNTING_COUNTING_H

#include "drain/drain.h"
#include "maps/store.h"
#include "report/facts.h"
#include "report/report_files.h"
#include "session/missing.h"
#include "session/session.h"
#include "session/traced_program.h"
#include "tally/tally.h"

/* As drain_counts: adds to `tally` and `losses`; with `again` the next report starts there. */
typedef int counting_collect(void *context, bool again, struct tally *tally, struct losses *losses);

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
    struct store store;
    /* How what was counted comes into the tally where drain_counts alone does not do, or NULL. */
    counting_collect *collect;
    void *collecting;
    /* Called some times a second while it runs, or NULL. */
    void (*tick)(void *context);
    void *ticking;
    /* Adds what else is missing, or NULL. */
    void (*add_losses)(void *context, struct missing *missing);
    void *losing;
    struct tally tally;
    struct losses losses; /* of the whole run */
    uint64_t map_bytes;   /* of the kernel, as was said last with --debug */
    uint64_t events;      /* likewise: those in the reports, and in the tally for the next */
    bool has_all;         /* nothing is left in the tables */
    bool does_not_close;  /* at a report, events were seen of which nothing is known */
    struct account reported; /* as the account was at the last report, */
    uint64_t counted_before, lost_before; /* and what is counted by the store itself */
    size_t merged;        /* entries of the tally when they were last merged */
    uint64_t next_gather, next_look; /* when to think of it again, ns */
};

/* Which programs will count: it decides how stacks are kept. */
struct counting_wishes {
    bool by_id; /* as store_wishes has it */
    uint32_t key_bytes, value_bytes; /* of a count, as store_wishes has them */
};

/* 0, or what the process is to exit with; what was wrong was said. counting_close after either. */
int counting_open(struct counting *counting, const struct trace_options *options,
                  const struct counting_wishes *wishes);

/* Whoever reads that tracing runs may rely on it. 0 or the exit status. */
int counting_start(struct counting *counting);

/* Reports until the run ends, and says what was lost. 0 or the exit status. */
int counting_run(struct counting *counting);

/*
 * What became of the events that the programs saw: with --debug, and whenever it does not add up.
 * `open`: of how many that is not known yet. `missed`: events that the kernel kept from us.
 */
void counting_say_account(const struct counting *counting, uint64_t open, uint64_t missed);

/* As session_close: returns what the process is to exit with, `status` as yet. */
int counting_close(struct counting *counting, int status);

#endif
