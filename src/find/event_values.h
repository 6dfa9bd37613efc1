/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Values of events that the user names - arg1, ret, comm, a tracepoint's fields - and where they
 * are in the context at a place.
 */
#ifndef STACKBOX_FIND_EVENT_VALUES_H
#define STACKBOX_FIND_EVENT_VALUES_H

#include "find/place.h"
#include "insns/condition.h"
#include "insns/machine.h"
#include "options/condition_words.h"

#define MOST_VALUES 8

/* As typed; {0} asks for nothing. */
struct asked_values {
    struct condition_words condition;
    struct value_words values[MOST_VALUES];
    size_t count;
};

/* The same, found for one place. */
struct event_values {
    struct event_condition condition;
    struct event_value values[MOST_VALUES];
    bool are_addresses[MOST_VALUES];
    size_t count;
};

struct values_where {
    int tracefs;                   /* for fields of tracepoints */
    const struct machine *machine; /* the kernel's */
    bool by_calls;                 /* see struct find: no fields, but a system call's words */
};

/*
 * 0, or a negative errno with a sentence in `error`: which values the place has instead, or why it
 * has none.
 */
int event_values_find(struct event_values *values, const struct asked_values *asked,
                      const struct values_where *where, const struct place *place,
                      struct text *error);

/* Is it a 32-bit file? */
bool event_values_narrow(const char *file);
/* By the registers of a thread stopped at the place: the value, and whether the condition holds. */
uint64_t event_value_read(const struct event_value *value, const uint64_t *registers);
bool event_condition_holds(const struct event_condition *condition, const uint64_t *registers,
                           const char *comm);

/* Can one program read them at both places? Both are for the same request. */
bool event_values_equal(const struct event_values *a, const struct event_values *b);

#endif
