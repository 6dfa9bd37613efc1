/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A report: a tally and its symbols as text. Stacks whose printed lines are equal become one block,
 * blocks are sorted, and the format's own file prints them. Pure.
 */
#ifndef STACKBOX_REPORT_REPORT_H
#define STACKBOX_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "base/text.h"
#include "flame/flame.h"
#include "processes/process.h"
#include "symbolize/kernel_frames.h"
#include "symbolize/symbolize.h"
#include "tally/tally.h"

/* How events are told apart: --by, the same in every applet. */
enum grouping {
    GROUP_UNSET,  /* by process; without the pid in formats of lines, which users compare */
    GROUP_BY_PROCESS, /* comm (PID), comm being the process's own name */
    GROUP_BY_THREAD,  /* comm (PID/TID), or comm (PID) if they are the same number */
    GROUP_BY_NAME,    /* comm: threads of the same name are one */
};

enum report_format {
    REPORT_TEXT,
    REPORT_FOLDED,
    REPORT_FLAT,
    REPORT_TREE,
    REPORT_SVG,
    REPORT_PPROF,
    REPORT_SPEEDSCOPE,
    REPORT_SBX, /* what was counted, to be symbolized elsewhere: see src/recording */
};

/* The format with this name. False: there is none. */
bool format_by_name(const char *name, enum report_format *format);

/* One percent of the whole, for report_options.narrow. */
#define TREE_PERCENT 1000000000

/* The layout of an applet's text. */
enum report_layout {
    LAYOUT_STACKCOUNT,
    LAYOUT_PROFILE, /* offcputime's, too */
    LAYOUT_WAKEUPTIME,
    LAYOUT_OFFWAKETIME,
};

/* Metadata besides the stacks, for formats with a place for it. Texts are raw bytes. */
struct report_about {
    const char *applet;       /* "profile" */
    const char *command_line; /* as typed */
    const char *host, *kernel;
    uint64_t began, ended; /* of the time that the report covers: ns since the epoch */
    uint64_t events;       /* in the report */
    const char *losses;    /* a line per kind, or "" */
};

/* What an applet's values are, in words. */
struct report_measure {
    const char *events; /* what an event is called: "samples", "events", "waits" */
    const char *value;  /* what else is measured: "cpu", "blocked", "page-faults"; NULL: nothing */
    const char *unit;   /* and its unit: "nanoseconds", "microseconds", "count" */
    uint64_t per_event; /* this much for each event; 0: it is the value of a block */
};

struct report_options {
    enum report_format format;
    enum report_layout layout;
    uint64_t unit;        /* sums of values are divided by this; 0: by 1 */
    enum grouping by;          /* how events are told apart */
    const struct process_names *names; /* of processes; NULL: their threads' names */
    bool kernel, user;    /* which stacks were asked for */
    bool delimited;       /* -d, if both were */
    bool offset, verbose, annotations;
    /* stackcount: a line with the process, its name as the root. Others always have it. */
    bool show_process;
    bool one_process; /* all events are of one: stackcount's text omits it */
    bool timestamp;       /* text: a line before the blocks */
    bool pairs;           /* text: who waits for whom, one line each, instead of blocks */
    const struct waiting_text *waiting; /* flat: for waits; NULL: the leaf has the time anyway */
    bool time_as_root;    /* folded: the time as the root */
    bool inverted;        /* svg: the root on top */
    uint64_t top;         /* only the greatest; 0: all */
    uint64_t functions;   /* flat: only that many; 0: all */
    uint64_t narrow;      /* tree: smaller branches are folded, in TREE_PERCENT of the whole */
    size_t width;         /* tree: lines are cut to that many columns; 0: not at all */
    struct report_measure measure;
    const struct report_about *about; /* NULL: nothing is known */
};

struct report_summary {
    uint64_t blocks, value;           /* printed; values are sums divided by the unit */
    uint64_t left_blocks, left_value; /* left out by `top` */
};

/*
 * Prints a report made at `when`. 0 or a negative errno: of writing (-EPIPE: the reader is gone),
 * or -ENOMEM before anything was printed.
 */
int report_write(FILE *out, const struct tally *tally, const struct symbols *symbols,
                 const struct report_options *options, const struct tm *when,
                 struct report_summary *summary);

/*
 * A summed flame as text, with a line per function. 0 or -ENOMEM. The caller checks `out` for
 * errors.
 */

/* Functions with their shares, as flat_write() does. */
int flame_write_functions(FILE *out, const struct flame *flame, const char *counted);

/*
 * Both totals, and below them the functions whose own share has changed, the greatest change first:
 *
 *     before 1000, now 1200
 *     +12.1% -> read
 *     -0.3% -> write
 *
 * A change is of counts, in percent of the total now, or of the total before if there is none now;
 * or of `shares`: each of its own total. Changes too small to be shown are one number at the end.
 */
int flame_write_changes(FILE *out, const struct flame *flame, bool shares);

#endif
