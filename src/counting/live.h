/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * --live: the report until now, again and again while it runs: in the place of the last one on a terminal
 * that can do that, else one after the other. Part of counting.
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
    struct text said; /* of stderr, while the terminal is ours */
    char *report;     /* the last one, or NULL */
    struct text status;
    uint64_t due;     /* when the next is, ns */
};

/* Before the session begins. 0, or the exit status; what is wrong was said. live_close after either. */
int live_open(struct live *live, const struct trace_options *options);

/* Whether a report is to be made now. */
bool live_is_due(const struct live *live);

struct counting;
/* Makes and shows one, of what is in the tally. 0 or a negative errno. */
int live_show(struct live *live, struct counting *counting, uint64_t lost);

/* Whether the terminal is as it was, and ours; and what was typed. True: the end is asked for. */
void live_look(struct live *live);
bool live_read_keys(struct live *live);

/* The terminal is as it was before, and what was kept is said. */
void live_close(struct live *live);

#endif
