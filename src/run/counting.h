/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A run of an applet that counts: reports in all formats, at the end, at intervals and live. */
#ifndef STACKBOX_RUN_COUNTING_H
#define STACKBOX_RUN_COUNTING_H

#include <stdio.h>

#include "base/screen.h"
#include "base/text.h"
#include "collect/collector.h"
#include "insns/unwind_layout.h"
#include "report/report_files.h"
#include "run/session.h"
#include "run/trace_options.h"
#include "symbolize/symbolize.h"
#include "tally/tally.h"

/* The only program that a run traces: the command's, or that of a single -p. */

struct traced_program {
    char *path; /* as in mappings; NULL: there is none, or it was not found */
    int fd;     /* or below 0 */
};

/* Which user stacks were not walked to their root, and why: for one line at the end of a run. */

#define CUT_CAUSES 32 /* told apart; others are only counted in total */

struct cut_cause {
    enum unwind_end end;
    bool of_waker;
    char file[64]; /* of the last frame; "": unknown */
    uint64_t events;
};

/* {0} is empty. */
struct cut_stacks {
    struct {
        uint64_t stacks, cut; /* user stacks, by events */
    } of[2]; /* those asked for, and wakers */
    struct cut_cause causes[CUT_CAUSES];
    size_t count;
};

/* Adds the stacks of a report. */
void cut_stacks_see(struct cut_stacks *stacks, const struct tally *tally,
                    const struct symbols *symbols);

/*
 * A line for the stacks asked for and one for wakers, if more than one in a hundred is cut; with
 * `all`, a line per cause.
 */
void cut_stacks_add_lines(const struct cut_stacks *stacks, bool all, struct text *lines);

/*
 * --live shows the report so far again and again during the run: in place of the last one on a
 * terminal that can do that, otherwise one after another. Part of counting.
 */

struct live {
    const struct trace_options *options;
    bool drawn;       /* on a terminal */
    struct screen screen;
    struct keys keys;
    struct text said; /* for stderr, while we have the terminal */
    char *report;     /* the last one, or NULL */
    struct text status;
    uint64_t due;     /* when the next is, ns */
};

/*
 * Before the session begins. 0, or the exit status, with errors reported. live_close after either.
 */
int live_open(struct live *live, const struct trace_options *options);

/* Should a report be made now? */
bool live_is_due(const struct live *live);

struct counting;
/* Makes a report from the tally, and shows it. 0 or a negative errno. */
int live_show(struct live *live, struct counting *counting, uint64_t lost);

/* Handles changes of the terminal, and what was typed. True: asked to end. */
void live_look(struct live *live);
bool live_read_keys(struct live *live);

/* Restores the terminal and prints what was kept back. */
void live_close(struct live *live);

/*
 * Shared by applets that count: rights and sizes before, reports in between, the account after. It
 * speaks to the user. An applet calls it in this order:
 *
 *     counting_open        signals, the filter, the collector
 *     (the applet makes its program with the collector's maps and session.scope, and attaches it)
 *     counting_start       counts events from now on
 *     session_header       says that tracing runs
 *     counting_run         reports until the end
 *     counting_close       after the applet has detached
 */

/*
 * What an applet does before each collection, and with what was just collected; `again` as for
 * counter_calls.collect.
 */
typedef int counting_prepare(void *context);
typedef int counting_complete(void *context, bool again, struct tally *tally);

struct counting {
    const struct trace_options *options;
    struct report_files files; /* where reports go */
    uint64_t reports;          /* how many were written */
    struct report_metadata metadata;
    struct traced_program program; /* looked for if a format names it */
    struct report_options report; /* the applet may set its own parts */
    const struct kallsyms_name *traced; /* kernel functions by name, sorted; the applet's */
    size_t traced_count;
    const struct stack_texts *texts; /* the kernel frames that the collector numbers; or NULL */
    bool at_tracepoints;          /* all events are: frames that only lead to these are left out */
    struct session session;
    struct collector *collector;
    /* Or NULL. */
    counting_prepare *prepare;
    counting_complete *complete;
    void *completing;
    /* Called some times a second during the run; or NULL. */
    void (*tick)(void *context);
    void *ticking;
    /* Adds further losses; or NULL. */
    void (*add_losses)(void *context, struct losses *losses);
    void *losing;
    /* With that context, before the last report: may begin to detach; or NULL. */
    void (*end)(void *context);
    struct tally tally;
    uint64_t bytes;       /* of kernel memory, as last reported with --debug */
    uint64_t events;      /* likewise: those in reports, and in the tally for the next */
    bool has_all;         /* nothing is left in the tables */
    bool does_not_close;  /* at some report, events were unaccounted for */
    struct cut_stacks cut;
    struct live live;
    struct collector_account reported; /* the account at the last report */
    uint64_t next_gather, next_look; /* when to check again, ns */
};

/*
 * Opens the collector, too, which counting_close closes. 0, or the exit status, with errors
 * reported. counting_close after either.
 */
int counting_open(struct counting *counting, const struct session_config *config,
                  struct collector *collector);

/* Counts from here on: the line that says so is printed afterwards. 0 or the exit status. */
int counting_start(struct counting *counting);

/* Reports until the run ends, and says what was lost. 0 or the exit status. */
int counting_run(struct counting *counting);

/*
 * Says what became of the events that programs saw: with --debug, and whenever the account does not
 * add up. `missed`: events that the kernel skipped.
 */
void counting_say_account(const struct counting *counting, uint64_t missed);

/* As session_close: returns the final exit status; `status` is the one so far. */
int counting_close(struct counting *counting, int status);

/* A report of the tally so far, in stdout's format, only to `out`. */
int counting_print_report(struct counting *counting, FILE *out);

#endif
