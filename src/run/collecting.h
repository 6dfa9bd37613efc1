/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which collector a run uses: the first that this kernel and these rights allow. If it is not the
 * first, that is reported.
 */
#ifndef STACKBOX_RUN_COLLECTING_H
#define STACKBOX_RUN_COLLECTING_H

#include "insns/program.h"
#include "run/trace_options.h"

/* What an applet needs, as far as it decides about collectors. */
struct collecting_config {
    bool takes_own; /* events of the user's own tasks need no rights, */
    bool own;       /* and only events of certain tasks are asked for */
    bool programs;  /* rings will not do */
    bool traces;    /* ptrace(2) will, for certain tasks, by interrupting threads, */
    bool waits;     /* whose waits have kernel stacks in /proc; */
    bool breaks;    /* or by hardware breakpoints, */
    bool calls;     /* or at system calls */
    bool walks;     /* the stacks are kernel functions', which a program can walk */
    bool kernel_only; /* kernel stacks, or values, matter more than user stacks */
};

struct collector_found {
    enum collect_way way;
    int refused; /* why it is not the first, which is the best: a negative errno, or 0 */
    int result;  /* the same for this one */
};

/*
 * The first collector that works: each is tried and undone. If none does, the one whose refusal
 * says most.
 */
struct collector_found collecting_find(const struct collecting_config *config);

/* A run's collector. */
struct collecting {
    enum collect_way way; /* not COLLECT_BEST */
    const char *why;      /* it is not the first, if none was asked for; or NULL */
    bool breaks, calls;   /* ptrace(2) sets breakpoints, or stops at system calls */
    bool user_only;       /* it has no kernel stacks */
    bool traces_own;      /* it is refused, and ptrace(2) would do for certain tasks */
};

/*
 * What --collect says, or else the above: by ptrace only waits have kernel stacks. 0 or the exit
 * status, with errors reported.
 */
int collecting_choose(struct collecting *collecting, struct trace_options *options,
                      const struct collecting_config *config);
/* If there is a reason: says which it is, and why. To be called once it runs. */
void collecting_say(const struct collecting *collecting);

/* What a run decides, reported with --debug; and the listings of --dump-program. */

/* With --debug: the machine and our rights. */
void decisions_say_machine(const struct trace_options *options);

/*
 * A program about to be loaded, "the program of user programs' events": mentioned with --debug, and
 * with --dump-program listed, too.
 */
void decisions_say_program(const char *what, const struct program *program,
                           const struct linked *linked, bool listing);

#endif
