/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which collector a run uses: the first that this kernel and these rights allow. If it is not the
 * first, that is reported.
 */
#ifndef STACKBOX_RUN_COLLECTING_H
#define STACKBOX_RUN_COLLECTING_H

#include "insns/program.h"
#include "run/trace_options.h"

/* What an applet needs, as far as that decides which collectors it can use. */
struct collecting_config {
    bool takes_own; /* events of the user's own tasks need no rights */
    bool own;       /* the user asks for events of certain tasks only */
    bool programs;  /* it needs programs: rings will not do */
    bool traces;    /* ptrace(2) will do for certain tasks: by interrupting threads, */
    bool waits;     /* whose waits have kernel stacks in /proc; */
    bool breaks;    /* or by hardware breakpoints, */
    bool calls;     /* or at system calls */
    bool walks;     /* stacks are taken in kernel functions, where a program can walk them */
    bool kernel_only; /* kernel stacks, or values, matter more than user stacks */
};

struct collector_found {
    enum collect_way way;
    int refused; /* the first and best way's negative errno, if it was refused; or 0 */
    int result;  /* the same for this way */
};

/*
 * The first collector that works: tries each, and undoes that. If none works, the one whose refusal
 * tells the user most.
 */
struct collector_found collecting_find(const struct collecting_config *config);

/* A run's collector. */
struct collecting {
    enum collect_way way; /* not COLLECT_BEST */
    const char *why;      /* why it is not the first, if the user asked for none; or NULL */
    bool breaks, calls;   /* ptrace(2) sets breakpoints, or stops at system calls */
    bool user_only;       /* it has no kernel stacks */
    bool traces_own;      /* all are refused, but ptrace(2) would do for certain tasks */
};

/*
 * Takes the collector that --collect names, or else collecting_find()'s. By ptrace, only waits have
 * kernel stacks. 0 or the exit status, with errors reported.
 */
int collecting_choose(struct collecting *collecting, struct trace_options *options,
                      const struct collecting_config *config);
/* Says which collector it is, and why, if it is not the first. To be called once it runs. */
void collecting_say(const struct collecting *collecting);

/* What a run decides, reported with --debug; and the listings of --dump-program. */

/* With --debug: the machine and our rights. */
void decisions_say_machine(const struct trace_options *options);

/*
 * A program about to be loaded, such as "the program of sched:" "sched_switch": mentioned with
 * --debug, and with --dump-program listed, too.
 */
void decisions_say_program(const struct trace_options *options, const char *what, const char *of,
                           struct program *program);

#endif
