/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Progress: one line on the terminal, updated in place, while the report goes elsewhere. It is
 * erased before any line of say().
 */
#ifndef STACKBOX_RUN_PROGRESS_H
#define STACKBOX_RUN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* How often to check whether it is due (ns): for struct run. */
#define PROGRESS_TICK_NS 250000000

struct progress_figures {
    double elapsed, duration; /* seconds; 0: no duration */
    bool counted;             /* the fields below are known */
    bool no_stacks;           /* stacks are not told apart */
    uint64_t events, stacks, lost;
};

/*
 * Is stderr a terminal on which a line can be erased, and stdout not a terminal? Asked before the
 * run; the progress line is shown only if so.
 */
bool progress_is_wanted(void);

/*
 * Has a second passed since the last line, is the terminal ours now, and does it accept a line?
 * Figures are needed only then.
 */
bool progress_is_due(void);

/* Replaces the last line, cut to the terminal's width. */
void progress_show(const struct progress_figures *figures);

/* Erases the line, if there is one. */
void progress_clear(void);

/*
 * To be called before writing to stdout. Unless that is a file, its reader may write to this
 * terminal: gives it a moment.
 */
void progress_make_way(void);

#endif
