/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Traces threads by ptrace(2): follows what they fork, passes their signals on, lets them stop and
 * go on as they would without it, and interrupts those that are to be sampled.
 *
 * Only the tracer calls ptrace(2): a process of its own that shares our memory and files, as a
 * thread would. So we alone wait for the command, and the tracer lets go of all threads if we are
 * killed. Whatever happens to the tracer, the threads go on.
 */
#ifndef STACKBOX_PTRACE_TRACER_H
#define STACKBOX_PTRACE_TRACER_H

#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>

#include "base/text.h"
#include "insns/filter.h"
#include "processes/process.h"
#include "ptrace/tracees.h"

/* All are called in the tracer. */
struct tracer_calls {
    void (*execs)(void *context, struct tracee *tracee);
    /* Its memory and times can still be read. */
    void (*ends)(void *context, struct tracee *tracee);
    void (*leaves)(void *context, struct tracee *tracee); /* likewise, as the run ends; or NULL */
    /* It was interrupted, and goes on when this returns: then `went_on` is called. */
    void (*stopped)(void *context, struct tracee *tracee);
    void (*went_on)(void *context, struct tracee *tracee);
    void (*tick)(void *context);
    /* For collectors of breakpoints; or all are NULL. */
    void (*begins)(void *context, struct tracee *tracee); /* a new thread, before it runs */
    /* At a breakpoint, or after a step, before it goes on. True: then `went_on` is called. */
    bool (*hit)(void *context, struct tracee *tracee, enum breakpoint_stop stop);
    bool (*called)(void *context, struct tracee *tracee); /* likewise, where calls_stop is set */
    bool (*is_ready)(const void *context); /* not in the tracer: are all breakpoints set? */
};

struct tracer_options {
    const struct event_filter *filter; /* which processes and threads */
    uint32_t command;                  /* or the command that is held; 0: none */
    size_t breakpoints;                /* in each thread, at most */
    bool follows;                      /* what the processes fork, too; of a command always */
    struct processes **processes;      /* is told of task events; points to NULL: not yet */
    const struct tracer_calls *calls;
    void *context;
};

struct tracer {
    struct tracer_options options;
    struct tracees tracees; /* the tracer's own */
    pthread_t keeper;       /* which waits while the tracer runs, in its place */
    pid_t pid;              /* the tracer's */
    void *stack;
    sem_t is_ready;
    int result;             /* of beginning to trace */
    uint32_t refused;       /* the thread that this is about */
    uint32_t seizes;        /* the process whose threads it seizes */
    uint64_t period;        /* between ticks, ns; 0: none yet */
    uint64_t random;
    uint64_t *armed;        /* by tid: a bit for each thread with breakpoints; NULL: none has any */
    bool is_open, ends, has_ended;
    bool was_killed;        /* it ended otherwise than it should */
    uint32_t unprivileged;  /* set-user-ID programs that ran without their rights, */
    char example[64];       /* one of them */
};

/*
 * Begins to trace. 0, or a negative errno with the reason in `why`; tracer_close after either.
 * Nothing may be changed in `options` while it runs.
 */
int tracer_open(struct tracer *tracer, const struct tracer_options *options, struct text *why);
/* From now on it ticks. */
void tracer_start(struct tracer *tracer, uint64_t period);
/* Lets go of all. */
void tracer_end(struct tracer *tracer);
void tracer_close(struct tracer *tracer);

/* In the tracer: it will stop for a sample. */
void tracer_ask(struct tracee *tracee);
/* Sets the breakpoints of one that has stopped: all or (false) none. 0 or a negative errno. */
int tracer_arm(struct tracer *tracer, struct tracee *tracee, bool all);

/*
 * Does the kernel let us trace our own children? Unless it is NULL, `ask` must be 0 for a child
 * that has stopped. 0 or a negative errno.
 */
int tracer_try(int (*ask)(uint32_t tid));
/* Why that was refused, or tracing a thread (0: a child), and, after ": ", what to do about it. */
void tracer_explain(int error, uint32_t tid, struct text *sentence);

#endif
