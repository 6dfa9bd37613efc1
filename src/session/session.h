/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What every tracing applet has while it runs: the signals and the time, the filter, who has what
 * mapped, and where names come from. It speaks to the user. Applets that count have it in their
 * struct counting, and go through counting.h.
 *
 *     session_open                 signals, the filter
 *     session_follow_processes     just before anything is attached
 *     session_await_tables         just before anything is traced
 *     session_header               says that tracing runs; or session_timed_header
 *     run_start, run_wait ...      see run.h
 *     session_before_names         before frames are named
 *     session_say_names_lost       at the end
 *     session_close                after the applet has detached: waits for the command
 *
 * The command of the options is started by session_open, and held; run_start lets it go.
 */
#ifndef STACKBOX_SESSION_SESSION_H
#define STACKBOX_SESSION_SESSION_H

#include "collect/scope.h"
#include "session/command.h"
#include "session/run.h"
#include "session/trace_options.h"
#include "session/unwinding.h"
#include "symbolize/symbolize.h"

struct session_wishes {
    const struct trace_options *options;
    bool data_on_stdout; /* -f and the like: the header goes to stderr */
    bool stdout_is_free; /* no report goes there: a command may print to it */
};

struct session {
    const struct trace_options *options;
    bool data_on_stdout;
    bool stdout_is_free;
    struct run run;
    struct command command;
    struct scope scope; /* whose events are collected */
    int kallsyms;                /* open, or below 0 */
    struct processes *processes; /* who has what mapped; NULL where no user stack is shown */
    struct unwinding unwinding;  /* how user stacks are walked */
    struct symbolize_notes notes;
};

/* 0, or what the process is to exit with; what was wrong was said. session_close after either. */
int session_open(struct session *session, const struct session_wishes *wishes);

/*
 * `status` is what the process would exit with; what it is to exit with is returned: with a command
 * that one's, when it has ended. One that tracing failed before, with --best-effort, runs only now.
 */
int session_close(struct session *session, int status);

/* Nothing with -K: kernel stacks need no processes. `depth`: of stacks. 0 or the exit status. */
int session_follow_processes(struct session *session, uint32_t depth);
/* What runs has the tables along which its stacks are walked, if that does not take long; says if there are none. */
void session_await_tables(struct session *session);

/*
 * Everything is attached and open, and a command is held in a process of its own: from now on we hold
 * only what tracing on takes.
 */
void session_shed_rights(void);

/*
 * Prints `what`, such as `Tracing 1 function for "vfs_read"`, and how to end it: on stdout, or on
 * stderr where stdout is for data alone.
 */
void session_header(struct session *session, const char *what);
/* The same, saying how long it takes where that is known: `Sampling ... for 5 secs.` */
void session_timed_header(struct session *session, const char *what);

/* Prints the last line of what is text. 0 or the exit status; what was wrong was said. */
int session_detaching(void);

/* Before the frames of user programs are named, each time: has the kernel forgotten processes? */
void session_before_names(struct session *session);

/* Why frames have no names that could have, and whom we may have lost sight of. */
void session_say_names_lost(const struct session *session);

#endif
