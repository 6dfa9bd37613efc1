/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Places and a program -> attached, by the best way that this kernel has. */
#ifndef STACKBOX_PROBES_ATTACH_H
#define STACKBOX_PROBES_ATTACH_H

#include <linux/bpf.h>
#include <signal.h>

#include "probes/place.h"
#include "util.h"

enum attach_way {
    ATTACH_BEST,    /* the first of these that works */
    ATTACH_MULTI,   /* one link to all functions (5.18, where it is built in) */
    ATTACH_PMU,     /* a perf event for each (4.17) */
    ATTACH_TRACEFS, /* all in one event of tracefs' kprobe_events */
};
const char *attach_way_name(enum attach_way way);

struct attach_request {
    const struct bpf_insn *insns; /* loaded as each kind of place needs it */
    size_t insn_count;
    const char *program_name;
    int tracefs;                  /* an open directory or below 0; ATTACH_TRACEFS needs it */
    enum attach_way way;
    bool force;                   /* however long it takes */
    const volatile sig_atomic_t *stop; /* becomes true when the user gives up */
    void (*progress)(size_t done, size_t total); /* or NULL; called as slow attaching goes on */
};

struct attachment {
    int *fds; /* events and links */
    size_t count, room;
    int programs[3]; /* of functions by link, of functions by event, of tracepoints; below 0: none */
    size_t attached, failed; /* places; those that failed have place.error set */
    enum attach_way function_way; /* how functions were attached, ATTACH_BEST without any */
    int tracefs;       /* with text probes in it, else below 0; the request's */
    struct text log;   /* the verifier's words where a program was refused */
    /* -E2BIG: this many functions one by one would take about so long. */
    size_t too_many;
    double seconds;
};

/*
 * Attaches all places but those that cannot be, which get their `error`. 0, or a negative errno when
 * nothing can be attached (a program that does not load, no rights, no place left): what is said
 * about it is the caller's matter. -E2BIG: too many to attach one by one without `force`; -EINTR: the
 * user gave up. attach_close is needed after either.
 */
int attach_open(struct attachment *attachment, const struct attach_request *request,
                struct places *places);

/* Detaches everything; nothing stays in the kernel. */
void attach_close(struct attachment *attachment);

#endif
