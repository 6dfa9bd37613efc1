/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What every tracing applet has while it runs: the signals and the time, the filter, processes'
 * mappings, and the sources of names. It speaks to the user. Applets that count have it in their
 * struct counting, and use counting.h.
 *
 *     session_open                 signals, the filter
 *     session_follow_processes     just before anything is attached
 *     session_await_tables         just before anything is traced
 *     session_header               says that tracing runs
 *     run_start, run_wait ...      see run.h
 *     session_before_names         before frames are named
 *     session_say_names_lost       at the end
 *     session_close                after the applet has detached: waits for the command
 *
 * The options' command is started and held by session_open; run_start releases it.
 */
#ifndef STACKBOX_RUN_SESSION_H
#define STACKBOX_RUN_SESSION_H

#include "collect/scope.h"
#include "insns/capture.h"
#include "kernel/kallsyms.h"
#include "kernel/kernel_names.h"
#include "ptrace/ptrace_source.h"
#include "rings/ring_source.h"
#include "run/collecting.h"
#include "run/command.h"
#include "run/run.h"
#include "run/trace_options.h"
#include "run/user_stacks.h"
#include "symbolize/symbolize.h"

struct session_config {
    const struct trace_options *options;
    struct collecting collecting;
    bool together; /* events do not tell processes apart: names of theirs are not shown */
    bool wakers;   /* stacks of all tasks are taken, too, whatever -p says */
    bool data_on_stdout; /* -f and the like: the header goes to stderr */
    bool stdout_is_free; /* no report goes there: the command may print to it */
};

struct session {
    struct session_config config;
    const struct trace_options *options; /* those of `config` */
    struct run run;
    struct command command;
    struct scope scope; /* whose events are collected */
    int kallsyms;                /* open, or below 0 */
    struct kallsyms_known known; /* of it */
    struct kernel_names kernel_names;
    struct processes *processes; /* with their mappings; NULL if no user stacks are shown */
    struct user_stacks user_stacks; /* how user stacks are walked */
    struct symbolize_notes notes;
};

/* 0, or the exit status, with errors reported. session_close after either. */
int session_open(struct session *session, const struct session_config *config);

/*
 * `status` is the exit status so far. Returns the final one: with a command, the command's, once it
 * has ended. If tracing failed, the command runs only now, and only with --best-effort.
 */
int session_close(struct session *session, int status);

/* Does nothing if neither stacks nor names need processes. `depth`: of stacks. 0 or exit status. */
int session_follow_processes(struct session *session, uint32_t depth);
/*
 * Waits until running processes have the tables for walking their stacks, if that does not take
 * long; says if there are none.
 */
void session_await_tables(struct session *session);

/* What the run's programs collect, by the options: the maps are the collector's. */
struct capture session_capture(const struct session *session);

/*
 * How collectors without programs collect what most applets need, by the options. `session` is open
 * when the collector is opened.
 */
struct ring_options session_rings(struct session *session, const struct trace_options *options);
struct ptrace_options session_ptrace(struct session *session, const struct trace_options *options,
                                     uint64_t frequency);

/*
 * For --debug: says what a program has cost, if the kernel keeps that. `tracepoint`: the
 * scheduler's tracepoint that the program is for; or NULL.
 */
void say_cost(int program, const char *tracepoint);

/*
 * Drops all rights but those that tracing needs. To be called when everything is attached and open,
 * and a command is held in a process of its own.
 */
void session_shed_rights(struct session *session);

/*
 * Prints `what`, such as `Tracing 1 function for "vfs_read"`, and when it ends, after `duration` or
 * (0) how: on stdout, or on stderr if stdout is only for data.
 */
void session_header(struct session *session, const char *what, uint64_t duration);

/* Prints the last line of text output. 0 or the exit status, with errors reported. */
int session_detaching(void);

/*
 * To be called each time before the frames of user programs are named: tells the processes if the
 * kernel's maps may have forgotten some of them.
 */
void session_before_names(struct session *session);

/* Why frames lack names that they could have, and which processes we may have lost track of. */
void session_say_names_lost(const struct session *session);

/* Whose events count, by the options, in the form that programs need. It speaks to the user. */

/* In a PID namespace tasks have other numbers: tells programs which namespace's numbers to use. */
void session_filter_namespace(struct event_filter *filter);

/* Parts of the line that says what is traced, for applets that take a duration. */

/* "PID 1", "PIDs 1,2", "TID 3", "PID 1, TID 3"; `all` if no task was picked. */
void heading_add_whose(struct text *line, const struct trace_options *options, const char *all);

/* "user + kernel", "user" or "kernel". */
const char *heading_stacks(const struct trace_options *options);

/* " on CPU#3", or nothing. */
void heading_add_cpu(struct text *line, const struct trace_options *options);

/* How it ends: " for 5 secs.", or without a duration "... Hit Ctrl-C to end." */
void heading_add_end(struct text *line, uint64_t duration, bool by_enter);

#endif
