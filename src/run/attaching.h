/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Attaching for applets that take patterns, and its messages. */
#ifndef STACKBOX_RUN_ATTACHING_H
#define STACKBOX_RUN_ATTACHING_H

#include "attach/attach.h"
#include "collect/scope.h"
#include "collect/walk_counts.h"
#include "find/event_values.h"
#include "find/find.h"
#include "options/applet.h"
#include "run/session.h"
#include "run/trace_options.h"
#include "store/store.h"

/* What a PATTERN can be, for help and man page. */
extern const struct manual_row attaching_patterns[];

/*
 * Are the words patterns, as far as can be told without asking the kernel? 0, or -EINVAL with one
 * line in `error`, which ends with `see_help` if there is more to know.
 */
int attaching_check_words(const struct arguments *arguments, const char *see_help,
                          struct text *error);

/* What --attach-by takes; `typed` may be NULL. 0, or -EINVAL with one line in `error`. */
int attaching_parse_way(enum attach_way *way, const char *typed, struct text *error);

/*
 * Finds what the patterns mean, in the libraries and files of `pid` unless that is 0. 0 or the exit
 * status, with errors reported.
 */
int attaching_find(struct find *find, int kallsyms, uint32_t pid);
/* Prints what was found to stdout instead of tracing it. */
int attaching_list(struct find *find, const struct trace_options *options);

/* A line on a terminal while attaching is slow: for attach_request.progress. */
void attaching_show_progress(size_t done, size_t total);

/*
 * Attaches what was found, and reports what was skipped or why nothing could be attached. 0 or the
 * exit status; attaching_detach after either. With `debug`, prints the verifier's log of a rejected
 * program, too.
 */
int attaching_attach(struct attachment *attachment, const struct attach_request *request,
                     struct find *find, bool debug);

/*
 * The same with rings, whatever the request says about programs. tracefs is opened for probes if it
 * is there.
 */
struct ring_source;
int attaching_attach_to_rings(struct attachment *attachment, struct ring_source *source,
                              const struct attach_request *config, struct find *find, bool debug);

/*
 * Were probes for a process lost, when a thread other than its first executed a program? Says so.
 */
void attaching_say_other_thread(const struct attachment *attachment, const struct scope *scope);

/* attach_close, and reports what is left behind; with `debug` how long it took, too. */
void attaching_detach(struct attachment *attachment, bool debug);

/*
 * Perf events that must not be inherited by forks. If probes are events with pointers into our
 * memory (by the PMUs, or without tracefs), the kernel reads these in the process that forks, and
 * fork fails with EFAULT or another file is probed. And when it switches between tasks that
 * inherited the same events, it swaps them instead: then one that ends takes another's user probes
 * along.
 */
bool attaching_uninherited(struct find *find, enum attach_way way);

/* The event that this program is for, and the condition on it. */
void attaching_capture(struct capture *capture, enum attach_program which,
                       const struct event_values *values);
/* Is there a place whose events that program gets? */
bool attaching_needs(enum attach_program which, const struct places *places);

/*
 * If returns of user functions are among the places, and the kernel shows how deep they are nested:
 * adds the program that counts those that it does not trace, into the account of these controls. 0
 * or a negative errno with a reason in `why`; the program is the caller's to free.
 */
int attaching_watch_nested(const struct session *session, const struct controls *controls,
                           const struct places *places, struct program *program,
                               struct linked *linked,
                           struct text *why);

/* A program about to be loaded: reported with --debug, and listed with --dump-program. */
void attaching_say_program(const struct trace_options *options, enum attach_program which,
                           const struct program *program, const struct linked *linked);

/*
 * When no event came: says which other files have the functions that were named, and may be the
 * ones called.
 */
void attaching_say_alternatives(const struct find *find, const struct trace_options *options);

/* `Tracing 1 function for "vfs_read", "sys_read" (__x64_sys_read)` */
void attaching_add_heading(struct text *heading, const struct attachment *attachment,
                           const struct find *find);

/*
 * The names of the places, sorted: of a function's several names, those asked for. The caller frees
 * only the array; NULL without memory.
 */
const char **attaching_names(const struct places *places);

/* What is asked of events besides their stacks: --if, and the values of --sum and --print. */

struct predicates {
    struct asked_values asked;
    struct event_values found[ATTACH_PROGRAMS]; /* where each program's events have it */
};

/* The section of that name. */
extern const struct manual_row predicates_values[];

/*
 * Parses --if and another option's values, at most `most`; each may be NULL. 0, or -EINVAL with one
 * line in `error`, which names the option.
 */
int predicates_parse(struct predicates *predicates, const char *condition, const char *option,
                     const char *values, size_t most, struct text *error);

bool predicates_any(const struct predicates *predicates);

/*
 * Finds it at all places. 0 or the exit status, with what is missing, or cannot be had `by_rings`,
 * reported.
 */
int predicates_find(struct predicates *predicates, const struct find *find, bool by_rings);

/* Counting by programs that walk the kernel's stacks themselves (collect/walk_counts.h). */

/* Can these patterns be counted so? All must be kernel functions, whose programs get registers. */
bool walking_can(const struct find *find, const struct trace_options *options);

/*
 * After places were found: sets which are at a function's start, and opens tracefs for text probes.
 */
void walking_tell_starts(struct find *find);

/* Builds the program for those places. */
void walking_build(const struct walk_counts *walk, const struct scope *scope,
                   enum attach_program which, struct program *program);

#endif
