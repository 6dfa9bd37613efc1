/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * How far it is: one line on the terminal, written over and over, while the report goes elsewhere.
 * It is gone before any line of say().
 */
#ifndef STACKBOX_SESSION_PROGRESS_H
#define STACKBOX_SESSION_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* How often to ask whether it is due (ns): for run_tick(). */
#define PROGRESS_TICK_NS 250000000

struct progress_figures {
    double elapsed, duration; /* seconds; no duration: 0 */
    bool counted;             /* what follows is known */
    bool no_stacks;           /* stacks are not told apart */
    uint64_t events, stacks, lost;
};

/*
 * stderr is a terminal that can have a line erased, and stdout is none. Asked before the run; what
 * is shown later is shown only where this was so.
 */
bool progress_is_wanted(void);

/*
 * A second has passed since the last line, and the terminal is ours at the moment and takes one:
 * only then figures need be found out.
 */
bool progress_is_due(void);

/* Shows it in place of the one before, cut to the terminal's width. */
void progress_show(const struct progress_figures *figures);

/* The line is gone, if there is one. */
void progress_clear(void);

/*
 * Before something is written to stdout: where that is no file its reader may write to this
 * terminal, and gets a moment for it.
 */
void progress_make_way(void);

#endif
