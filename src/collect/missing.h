/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What was lost, by cause. Files and --debug have a line for each; people who did not ask get one
 * line in all, and only if it matters.
 */
#ifndef STACKBOX_COLLECT_MISSING_H
#define STACKBOX_COLLECT_MISSING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/* Less than one in this many is not worth a line; nor fewer waits that nobody saw end, which every tracer has. */
#define MISSING_MATTERS 1000
#define MISSING_ENDS_MATTER 100

struct loss {
    uint64_t count;     /* 0: none, and nothing is added; MISSING_UNCOUNTED: unknown */
    const char *events; /* their name, if it differs from the report's */
    bool at_most;
    bool beside;        /* they are not among the events counted */
    unsigned matters;   /* 0: MISSING_MATTERS, together with others; else that, on its own */
};
#define MISSING_UNCOUNTED UINT64_MAX

#define MISSING_KINDS 12

struct missing {
    struct loss kinds[MISSING_KINDS];
    struct text what[MISSING_KINDS]; /* "are not counted: why; what to do" */
    size_t count;
    uint64_t unfit; /* what the user left out by its size is part of everything, too */
};

/* Adds a cause; `format` says what became of them and why, and what to do about it. */
void missing_add(struct missing *missing, const struct loss *loss, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Events that the kernel did not pass to programs: at most that many. */
void missing_add_recursion(struct missing *missing, const char *events, uint64_t count);
/* Returns of user functions: at most that many, if not every return was asked for. */
void missing_add_nested(struct missing *missing, uint64_t count, bool at_most);
void missing_free(struct missing *missing);

/* A line per cause: "12 events are ...". */
void missing_add_lines(const struct missing *missing, struct text *lines);
/* The same, with their share of everything: `events` were counted, called `name`. */
void missing_add_shares(const struct missing *missing, uint64_t events, const char *name,
                        struct text *lines);
/* One line, about the greatest: nothing if they do not matter even together. */
void missing_add_summary(const struct missing *missing, uint64_t events, const char *name,
                         struct text *line);

#endif
