/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Runs the programs of insns/offwake.c, or those of insns/wall.c: on the scheduler's raw tracepoints, for which the
 * kernel's types are asked, or, where there are none, on the tracepoints of tracefs.
 */
#ifndef STACKBOX_KERNEL_SWITCHES_H
#define STACKBOX_KERNEL_SWITCHES_H

#include "base/text.h"
#include "insns/offwake.h"
#include "kernel/refusal.h"
#include "kernel/tracepoint.h"

struct switches {
    struct tracepoint switches, wakings;
    struct tracepoint births; /* of threads, for VIEW_WALL */
    bool raw; /* they are on raw tracepoints */
};
#define SWITCHES_NONE {TRACEPOINT_NONE, TRACEPOINT_NONE, TRACEPOINT_NONE, false}

/* Why there are none: the program of this event was refused; NULL: something before it was. */
struct switches_refusal {
    enum refused what;
    int error;
    const char *event;
    bool no_field;   /* -ENOENT: the event has not got what is needed, or there is none */
    struct text log; /* the verifier's words; the caller frees it */
};

/* Called with each program before it is loaded, or NULL. */
typedef void switches_show(struct program *program, const char *event);

/*
 * `wishes` are filled in but for the fields, which are put in. 0, or a negative errno with `refusal`;
 * switches_close after either.
 */
int switches_open(struct switches *switches, struct offwake_wishes *wishes, switches_show *show,
                  struct switches_refusal *refusal);
void switches_close(struct switches *switches);

/* Hits that the kernel kept from them. */
uint64_t switches_missed(const struct switches *switches);

#endif
