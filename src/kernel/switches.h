/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Runs the programs of insns/offwake.c or insns/wall.c: on the scheduler's raw tracepoints, with
 * fields found by BTF, or, if that fails, on the tracepoints of tracefs.
 */
#ifndef STACKBOX_KERNEL_SWITCHES_H
#define STACKBOX_KERNEL_SWITCHES_H

#include "base/text.h"
#include "insns/programs.h"
#include "kernel/refusal.h"
#include "kernel/tracefs.h"

enum switches_point {
    SWITCHES_BIRTH, /* of a thread, for VIEW_WALL */
    SWITCHES_WAKING,
    SWITCHES_SWITCH,
    SWITCHES_RENAME, /* for VIEW_WALL, likewise */
    SWITCHES_EXIT,
    SWITCHES_POINTS,
};

struct switches {
    struct tracepoint points[SWITCHES_POINTS];
    bool raw; /* on raw tracepoints */
};
#define SWITCHES_NONE \
    {{TRACEPOINT_NONE, TRACEPOINT_NONE, TRACEPOINT_NONE, TRACEPOINT_NONE, TRACEPOINT_NONE}, false}

/* Why it failed: the program for this event was refused; NULL: something before it was. */
struct switches_refusal {
    enum refused what;
    int error;
    const char *event;
    bool no_field;   /* -ENOENT: the event lacks a field that is needed, or does not exist */
    struct text log; /* the verifier's words; the caller frees it */
};

/* Called with each program before it is loaded. */
struct switches_show {
    void (*show)(const void *context, struct program *program, const char *event);
    const void *context;
};

/*
 * `capture` is filled in except for the fields, which are set here; `show` may be NULL. 0, or a
 * negative errno with `refusal`; switches_close after either.
 */
int switches_open(struct switches *switches, struct capture *capture,
                  const struct switches_show *show, struct switches_refusal *refusal);
void switches_close(struct switches *switches);

/* Hits that the kernel did not pass to them. */
uint64_t switches_missed(const struct switches *switches);

#endif
