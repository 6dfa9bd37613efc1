/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * --live: the report so far, again and again during the run: replacing the last one on a terminal
 * that can do that, otherwise one after another. Part of counting.
 */
#ifndef STACKBOX_COUNTING_LIVE_H
#define STACKBOX_COUNTING_LIVE_H

#include "base/text.h"
#include "session/trace_options.h"
#include "view/keys.h"
#include "view/screen.h"

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
/* Makes and shows one, from the tally. 0 or a negative errno. */
int live_show(struct live *live, struct counting *counting, uint64_t lost);

/* Handles changes of the terminal, and what was typed. True: asked to end. */
void live_look(struct live *live);
bool live_read_keys(struct live *live);

/* Restores the terminal and prints what was kept back. */
void live_close(struct live *live);

#endif
