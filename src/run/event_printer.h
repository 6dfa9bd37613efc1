/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A run of the applet that prints single events, in the order of their times. */
#ifndef STACKBOX_RUN_EVENT_PRINTER_H
#define STACKBOX_RUN_EVENT_PRINTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "collect/collector.h"
#include "find/event_values.h"
#include "find/place.h"
#include "report/records.h"
#include "run/attaching.h"
#include "run/session.h"
#include "store/store.h"
#include "symbolize/symbolize.h"
#include "unwind/deferred.h"

/*
 * Keeps items that arrive roughly in time order until no earlier one can come, and hands them out
 * in time order, those of equal times in the order of adding. {0} is empty.
 */

struct timeline_entry {
    uint64_t time;
    size_t at, size; /* where its bytes are */
};

struct timeline {
    struct timeline_entry *entries; /* those from `given` on are waiting */
    size_t count, given, room;
    bool is_sorted;
    char *bytes;
    size_t used, bytes_room;
    uint64_t last; /* the time of the last one given out */
    uint64_t late; /* how many were added whose time was before that */
};

/* Copies the bytes in. 0 or -ENOMEM. */
int timeline_add(struct timeline *timeline, uint64_t time, const void *bytes, size_t size);

/*
 * Sorts the waiting items, and returns how many have a time of at most `until`: they are
 * entries[given] and on.
 */
size_t timeline_ready(struct timeline *timeline, uint64_t until);

/* The bytes of the index-th waiting item, aligned to 8; valid until the next add. */
const void *timeline_bytes(const struct timeline *timeline, size_t index, size_t *size);

/* Drops the first `count` waiting items, which the caller has handled. */
void timeline_give(struct timeline *timeline, size_t count);

static inline size_t timeline_waiting(const struct timeline *timeline)
{
    return timeline->count - timeline->given;
}

void timeline_free(struct timeline *timeline);

/*
 * A cache of frames' lines, without which each event would cost passes over the symbols of the
 * kernel or a file. It keeps the names of kernel frames; those of processes for a second only, as a
 * process may map something else meanwhile.
 */

struct frame {
    struct symbol symbol;
    struct text line; /* from records_add_frame */
    bool is_unknown;  /* its function and its file are both unknown; set with the line */
    bool of_tracing;  /* see symbolize/tracing_frames.h; set with the line */
};

/* The kernel's, or processes'. */
struct frame_table {
    struct frame **items;
    size_t count, room, named; /* those from `named` on have no line yet */
    struct index index;
};

struct frames {
    struct frame_table kernel, user;
    uint64_t user_since; /* when the first process's frame was looked up */
};

/* Makes text from the records of a timeline, looking up each name of an event or frame once. */

struct event_place {
    char *name;
    bool is_tracepoint; /* frames that only lead to its programs are left out */
    const struct event_values *values; /* in its records; NULL: none */
};

struct event_text {
    struct record_options options;
    uint32_t depth;        /* frames per stack, at most */
    struct deferred *deferred;     /* stacks whose rest is walked later; NULL: none */
    struct frames frames;
    struct event_place *places;
    size_t place_count;
    const struct value_words *value_names; /* of places' values */
    uint64_t clock_offset; /* from the monotonic clock to what is printed */
    bool has_clock;        /* it is known: otherwise the first event has time 0 */
    struct callers callers; /* that the kernel's walks leave out */
};

/*
 * Names the events at `places`, to whose indices records refer; if `readable` is NULL, with names
 * from the tables. 0 or -ENOMEM.
 */
int event_text_open(struct event_text *text, const struct places *places,
                    const struct demangle_options *readable);
void event_text_close(struct event_text *text);

/*
 * Appends the text of the first `count` waiting items of `timeline`, struct snoop_records from
 * snoop_record_take. 0 or a negative errno.
 */
int event_text_add(struct event_text *text, const struct timeline *timeline, size_t count,
                   const struct symbolize_options *config, struct symbolize_notes *notes,
                   struct text *out);

/*
 * Single events, as they come: what the applet that prints them does while it runs. It speaks to
 * the user. The applet calls it in this order:
 *
 *     event_printer_open        signals, the filter, the collector
 *     (the applet makes its programs with the collector's maps and session.scope, attaches them)
 *     event_printer_start       records events from now on
 *     event_printer_run         prints them, until the end
 *     event_printer_close       after the applet has detached
 */

struct event_printer_config {
    struct session_config session;
    enum record_format format;
    uint64_t most; /* records; 0: any number */
};

struct event_printer {
    const struct trace_options *options;
    struct session session;
    struct collector *collector;
    struct timeline timeline; /* records that may not be printed yet */
    struct event_text text;
    const struct kallsyms_name *traced; /* names of traced kernel functions, sorted; the applet's */
    size_t traced_count;
    const struct predicates *values; /* the values asked for, or NULL: the applet's */
    uint64_t most, printed;
    bool has_all; /* the collector has nothing left */
    int epoll, timer;
    struct text out;       /* records that were not written yet */
    uint64_t flushed, forgotten; /* when */
};

/*
 * Opens the collector, too, which event_printer_close closes. 0, or the exit status, with errors
 * reported. event_printer_close after either.
 */
int event_printer_open(struct event_printer *printer, const struct event_printer_config *config,
                       struct collector *collector);

/* 0 or the exit status. */
int event_printer_start(struct event_printer *printer);

/* Prints until the run ends; `places` are those attached. 0 or the exit status. */
int event_printer_run(struct event_printer *printer, const struct places *places);

/* Says what was lost; `missed`: events that the kernel skipped. */
void event_printer_say_losses(const struct event_printer *printer, uint64_t missed);

/* As session_close. */
int event_printer_close(struct event_printer *printer, int status);

#endif
