/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What is asked of events besides their stacks: --if, and the values of --sum and --print. */
#ifndef STACKBOX_SESSION_ASKING_H
#define STACKBOX_SESSION_ASKING_H

#include "attach/attach.h"
#include "find/event_values.h"
#include "find/find.h"
#include "options/applet.h"

struct asking {
    struct asked_values asked;
    struct event_values found[ATTACH_PROGRAMS]; /* where each program's events have it */
};

#define ASKING_IF_HELP "only events for which this is true: see Values"
/* The section of that name. */
extern const struct manual_row asking_values[];

/*
 * Parses --if and another option's values, at most `most`; each may be NULL. 0, or -EINVAL with one
 * line in `error`, which names the option.
 */
int asking_parse(struct asking *asking, const char *condition, const char *option, const char *values,
                 size_t most, struct text *error);

bool asking_any(const struct asking *asking);

/*
 * Finds it at all places. 0 or the exit status, with what is missing, or cannot be had `by_rings`,
 * reported.
 */
int asking_find(struct asking *asking, const struct find *find, bool by_rings);

#endif
