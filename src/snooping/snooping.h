/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Single events, as they come: what the applet that prints them does while it runs. It speaks to
 * the user. The applet calls it in this order:
 *
 *     snooping_open        signals, the filter, the collector
 *     (its programs, made with what the collector has and snooping.session.scope, attached by itself)
 *     snooping_start       records events from now on
 *     snooping_run         prints them, until the end
 *     snooping_close       after the applet has detached
 */
#ifndef STACKBOX_SNOOPING_SNOOPING_H
#define STACKBOX_SNOOPING_SNOOPING_H

#include "collect/collector.h"
#include "find/place.h"
#include "session/asking.h"
#include "session/session.h"
#include "snooping/event_text.h"
#include "snooping/timeline.h"

struct snooping_wishes {
    const struct trace_options *options;
    enum record_format format;
    uint64_t most; /* records; 0: any number */
};

struct snooping {
    const struct trace_options *options;
    struct session session;
    struct collector *collector;
    struct timeline timeline; /* records that may not be printed yet */
    struct event_text text;
    const char *const *traced; /* names of traced kernel functions, sorted; the applet's */
    size_t traced_count;
    const struct asking *values; /* the values asked for, or NULL: the applet's */
    uint64_t most, printed;
    bool has_all; /* the collector has nothing left */
    int epoll, timer;
    struct text out;       /* records that were not written yet */
    uint64_t flushed, forgotten; /* when */
};

/*
 * Opens the collector, too, which snooping_close closes. 0, or the exit status, with errors
 * reported. snooping_close after either.
 */
int snooping_open(struct snooping *snooping, const struct snooping_wishes *wishes,
                  struct collector *collector);

/* 0 or the exit status. */
int snooping_start(struct snooping *snooping);

/*
 * Prints until the run ends; `places` are those attached, `depth` is the number of frames in a
 * stack. 0 or the exit status.
 */
int snooping_run(struct snooping *snooping, const struct places *places, uint32_t depth);

/* What was lost; `missed`: events that the kernel skipped. */
void snooping_say_losses(const struct snooping *snooping, uint64_t missed);

/* As session_close. */
int snooping_close(struct snooping *snooping, int status);

#endif
