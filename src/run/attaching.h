/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What applets that take patterns share: options, finding and attaching places, and messages. */
#ifndef STACKBOX_RUN_ATTACHING_H
#define STACKBOX_RUN_ATTACHING_H

#include "attach/attach.h"
#include "collect/scope.h"
#include "collect/walk_counts.h"
#include "find/event_values.h"
#include "find/find.h"
#include "options/applet.h"
#include "ptrace/ptrace_source.h"
#include "run/session.h"
#include "run/trace_options.h"
#include "store/store.h"

/* What a PATTERN can be, for help and man page. */
extern const struct manual_row attaching_patterns[];

/* The options of such an applet: the first member of its settings. */
struct probe_options {
    struct trace_options trace;
    const char *attach, *condition, *values; /* --attach-by, --if; --sum or --print */
    bool regex, force, list;
};

/* --list, --force and --attach-by. */
extern const struct option probing_options[];

/* The conditions and values that are asked of events besides their stacks. */
struct predicates {
    struct asked_values asked;
    struct event_values found[ATTACH_PROGRAMS]; /* where each program's events have them */
};

/* The manual's section on values. */
extern const struct manual_row predicates_values[];

/* As probing_check() and probing_find() do it. */
int predicates_parse(struct predicates *predicates, const struct probe_options *options,
                     const char *option, size_t most, struct text *error);
int predicates_find(struct predicates *predicates, const struct find *find, bool by_rings);

bool predicates_any(const struct predicates *predicates);

/* What it probes: at first PROBING_NONE. */
struct probing {
    const struct probe_options *options;
    struct find find;
    enum attach_way way;
    struct attachment attachment;
    struct predicates predicates;
    struct kallsyms_name *names; /* of the traced functions, sorted: of several, those asked for */
};
#define PROBING_NONE(its_options) \
    {.options = (its_options), .find = {.tracefs = -1, .kallsyms = -1}}

/*
 * Checks everything that needs no kernel; `option` is the values' option, which takes `most` of
 * them. 0, or -EINVAL with one line in `error`.
 */
int probing_check(struct probing *probing, const struct arguments *arguments, const char *option,
                  size_t most, struct text *error);

/*
 * After probing_check() returned `refused`: lists or traces, or says what was refused, and frees
 * `probing`. Returns the exit status.
 */
int probing_run(struct probing *probing, int refused, struct text *error,
                const struct arguments *arguments, int (*trace)(void *context), void *context);

/*
 * Finds what the patterns mean, and the values at all places. 0 or the exit status, with errors
 * reported.
 */
int probing_find(struct probing *probing, struct session *session);

/* How an applet traces what was found. */
struct probing_calls {
    const char *applet;
    const struct session *session;
    struct collector *collector; /* attached to itself if it needs no programs */
    void *context;
    const struct controls *controls; /* programs', if nested returns are to be counted; or NULL */
    bool numbered;                   /* they tell which place was hit */
    void (*build)(void *context, enum attach_program which, struct program *program);
    int (*trace)(void *context); /* until the end. The exit status */
};

/*
 * Builds programs, attaches, traces, and detaches. Reports what was skipped, or why nothing could
 * be attached. The exit status.
 */
int probing_trace(struct probing *probing, const struct probing_calls *calls);

/* The names of attached places, and `Tracing 1 function for "sys_read" (__x64_sys_read)` */
void probing_name(struct probing *probing, struct text *heading);

/*
 * At the end says: without `events`, which other files have the functions named, as the process may
 * call those; and whether a process lost its probes, because a thread other than its first executed
 * a program.
 */
void probing_say_missed(const struct probing *probing, const struct session *session,
                        uint64_t events);

/* What these patterns and predicates need of a collector. */
struct collecting_config probing_needs(const struct probing *probing);

/* How they are collected without programs. `session` is open when the collector is opened. */
struct ring_options probing_rings(struct probing *probing, struct session *session);
struct ptrace_options probing_ptrace(const struct probing *probing, struct session *session);

/* The event that this program is for, and what is asked of it. */
void probing_capture(const struct probing *probing, struct capture *capture,
                     enum attach_program which);

/* Counting by programs that walk the kernel's stacks themselves (collect/walk_counts.h). */

/* Can these patterns be counted so? All must be kernel functions, whose programs get registers. */
bool walking_can(const struct find *find, const struct trace_options *options);

/* After places were found: marks those at a function's start, and opens tracefs for text probes. */
void walking_tell_starts(struct find *find);

/* Builds the program for those places. */
void walking_build(const struct walk_counts *walk, const struct scope *scope,
                   enum attach_program which, struct program *program);

#endif
