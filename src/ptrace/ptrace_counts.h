/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Counts samples of threads that are interrupted by ptrace(2): at each tick those that run. A
 * sample stands for a period of CPU time, and a thread has as many as the CPU time that it took,
 * whenever ticks come.
 */
#ifndef STACKBOX_PTRACE_PTRACE_COUNTS_H
#define STACKBOX_PTRACE_PTRACE_COUNTS_H

#include "ptrace/tracer.h"
#include "rings/ring_collectors.h"

#define PTRACE_MOST_FREQUENCY 997

struct ptrace_options {
    struct scope *scope;          /* the run's, open when the collector is opened */
    struct ring_unwind *unwind;   /* likewise; how user stacks are walked */
    struct processes **processes; /* there once it starts: told what happens from then on */
    struct capture capture;       /* what is collected; depth 0: the kernel's limit */
    uint64_t frequency;           /* of ticks */
    uint64_t stacks;              /* distinct ones between two reports; 0: by free memory */
};

struct ptrace_sample {
    struct unwind_state *state; /* with `kept` bytes of the stack */
    unsigned char *stack;
    uint64_t samples;          /* how many it is; 0: none was taken */
    unsigned cpu;
};

struct ptrace_counts {
    struct collector collector;
    struct ptrace_options options;
    const struct machine *machine;
    struct tracer tracer;
    struct processes *processes; /* NULL: not yet */
    struct ring_table table;
    pthread_mutex_t lock;
    struct ptrace_sample sample; /* the last */
    uint32_t depth;
    uint64_t period;             /* ns */
    uint64_t most_waited;        /* ns that a thread may owe until it is sampled where it waits */
    int64_t owed;                /* by threads that have ended: see struct tracee */
    uint32_t ticks;
    uint64_t filtered, counted, table_full;
    int failure;                 /* a negative errno */
    bool is_open;
};

/* The options may still be changed until the collector is opened. */
void ptrace_counts_init(struct ptrace_counts *counts, const struct ptrace_options *options);

/* What is worth a line at the end of a run. */
void ptrace_counts_say(const struct ptrace_counts *counts, struct text *lines);

#endif
