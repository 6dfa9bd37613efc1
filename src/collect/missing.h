/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What is missing of what happened, by its causes. Files and --debug have a line for each; for people
 * who did not ask there is one line in all, and only where it matters.
 */
#ifndef STACKBOX_COLLECT_MISSING_H
#define STACKBOX_COLLECT_MISSING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* Less than one in so many is not worth a line. */
#define MISSING_MATTERS 1000

struct loss {
    uint64_t count;     /* 0: none, and nothing is added; MISSING_UNCOUNTED: nobody knows how many */
    const char *events; /* what they are called, if not as those of the report */
    bool at_most;
    bool beside;        /* they are not among those that were counted */
};
#define MISSING_UNCOUNTED UINT64_MAX

#define MISSING_KINDS 10

struct missing {
    struct loss kinds[MISSING_KINDS];
    struct text what[MISSING_KINDS]; /* "are not counted: why; what to do" */
    size_t count;
};

/* Adds one kind, `format` being what became of them and why, and what to do about it. */
void missing_add(struct missing *missing, const struct loss *loss, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What the kernel kept from programs: up to so many events. */
void missing_add_recursion(struct missing *missing, const char *events, uint64_t count);
void missing_free(struct missing *missing);

/* A line for each kind: "12 events are ...". */
void missing_add_lines(const struct missing *missing, struct text *lines);
/* The same, with their share of all: what was counted are `events`, called `name`. */
void missing_add_shares(const struct missing *missing, uint64_t events, const char *name,
                        struct text *lines);
/* The one line, of the greatest: nothing if all of them do not matter. */
void missing_add_summary(const struct missing *missing, uint64_t events, const char *name,
                         struct text *line);

#endif
