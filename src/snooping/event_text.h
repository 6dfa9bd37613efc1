/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From the records of a timeline to text: names of events and frames, each looked up once. */
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
    bool is_tracepoint; /* frames that only lead to its programs are left out */
    const struct event_values *values; /* in its records; NULL: none */
};

struct event_text {
    struct record_options options;
    uint32_t depth;        /* frames per stack, at most */
    struct cold *cold;     /* stacks whose rest is walked later; NULL: none */
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
                    const struct demangle_wishes *readable);
void event_text_close(struct event_text *text);

/*
 * Appends the text of the first `count` that wait in `timeline`, struct snoop_records from
 * snoop_record_take. 0 or a negative errno.
 */
int event_text_add(struct event_text *text, const struct timeline *timeline, size_t count,
                   const struct symbolize_wishes *wishes, struct symbolize_notes *notes,
                   struct text *out);

#endif
