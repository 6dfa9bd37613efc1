/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A report: a tally and its symbols as text. Stacks whose printed lines are equal become one block,
 * blocks are put in order, and the format's own file prints them. Pure: it asks nobody anything.
 */
#ifndef STACKBOX_REPORT_REPORT_H
#define STACKBOX_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "processes/process_names.h"
#include "report/formats.h"
#include "report/who.h"
#include "symbolize/symbolize.h"
#include "symbolize/waiting_frames.h"
#include "tally/tally.h"

/* One percent of the whole, as report_options.narrow has it. */
#define TREE_PERCENT 1000000000

/* How the text of an applet looks. */
enum report_layout {
    LAYOUT_STACKCOUNT,
    LAYOUT_PROFILE, /* offcputime's, too */
    LAYOUT_WAKEUPTIME,
    LAYOUT_OFFWAKETIME,
};

/* What is said besides the stacks, in formats that have a place for it. Texts are raw bytes. */
struct report_about {
    const char *applet;       /* "profile" */
    const char *command_line; /* as it was typed */
    const char *host, *kernel;
    uint64_t began, ended; /* of the time that the report is of: ns since the epoch */
    uint64_t events;       /* in the report */
    const char *losses;    /* a line for each kind; "" */
};

/* What an applet's values are, in words. */
struct report_measure {
    const char *events; /* what an event is called: "samples", "events", "waits" */
    const char *value;  /* what else is measured: "cpu", "blocked", "page-faults"; NULL: nothing */
    const char *unit;   /* and in what: "nanoseconds", "microseconds", "count" */
    uint64_t per_event; /* of each event it is this much; 0: it is the value of a block */
};

struct report_options {
    enum report_format format;
    enum report_layout layout;
    uint64_t unit;        /* what is printed is the sum of values divided by this; 0: by 1 */
    enum who by;          /* whom events are told apart by */
    const struct process_names *names; /* of processes; NULL: they are called as their threads */
    bool kernel, user;    /* which stacks were asked for */
    bool delimited;       /* -d, where both were */
    bool offset, verbose, annotations;
    /* stackcount: a line with the process, its name as the root. Others have it. */
    bool show_process;
    bool one_process; /* all events are of one: stackcount's text leaves it out */
    bool timestamp;       /* text: a line before the blocks */
    bool pairs;           /* text: who waits for whom, in a line each, for the blocks */
    const struct waiting_text *waiting; /* flat: of waits; NULL: whatever is the leaf has its time */
    bool time_as_root;    /* folded: the time as the root */
    uint64_t top;         /* the greatest alone; 0: all */
    uint64_t functions;   /* flat: so many alone; 0: all */
    uint64_t narrow;      /* tree: branches of less are folded, in TREE_PERCENT of the whole */
    size_t width;         /* tree: lines are cut to so many columns; 0: they are whole */
    struct report_measure measure;
    const struct report_about *about; /* NULL: nothing is known */
};

struct report_summary {
    uint64_t blocks, value;           /* printed; values are sums divided by the unit */
    uint64_t left_blocks, left_value; /* left out by `top` */
};

/*
 * Prints a report that is made at `when`. 0 or a negative errno: what writing failed with (-EPIPE:
 * the reader is gone), or -ENOMEM before anything was printed.
 */
int report_write(FILE *out, const struct tally *tally, const struct symbols *symbols,
                 const struct report_options *options, const struct tm *when,
                 struct report_summary *summary);

#endif
