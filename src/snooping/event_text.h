/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From the records of a timeline to their text: names of events and of frames, each looked up once. */
#ifndef STACKBOX_SNOOPING_EVENT_TEXT_H
#define STACKBOX_SNOOPING_EVENT_TEXT_H

#include "find/event_values.h"
#include "find/place.h"
#include "insns/layout.h"
#include "maps/callers.h"
#include "report/records.h"
#include "snooping/frames.h"
#include "snooping/timeline.h"
#include "unwind/cold.h"

struct event_place {
    char *name;
    bool is_tracepoint; /* what leads to its programs is no part of its stacks */
    const struct event_values *values; /* that its records have; NULL: none */
};

struct event_text {
    struct record_options options;
    uint32_t depth;        /* frames per stack, at most */
    struct cold *cold;     /* stacks whose rest is walked later; NULL: there are none */
    struct frames frames;
    struct event_place *places;
    size_t place_count;
    const struct value_words *value_names; /* of places' values */
    uint64_t clock_offset; /* from the monotonic clock to what is printed */
    bool has_clock;        /* it is known: without, the first event has the time 0 */
    struct callers callers; /* that walks leave out */
};

/*
 * Names the events at `places`, whose indices are the records' places; with `readable` of NULL as
 * the tables have them. 0 or -ENOMEM.
 */
int event_text_open(struct event_text *text, const struct places *places,
                    const struct demangle_wishes *readable);
void event_text_close(struct event_text *text);

/*
 * Appends the text of the first `count` that wait in `timeline`, struct snoop_records that
 * snoop_record_take made. 0 or a negative errno.
 */
int event_text_add(struct event_text *text, const struct timeline *timeline, size_t count,
                   const struct symbolize_wishes *wishes, struct symbolize_notes *notes,
                   struct text *out);

#endif
