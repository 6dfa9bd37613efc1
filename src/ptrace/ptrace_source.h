/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Collectors of what threads do at each tick, as ptrace(2) and /proc show it: samples of those that
 * run, for profile; and all of their time, for walltime and offcputime.
 */
#ifndef STACKBOX_PTRACE_PTRACE_SOURCE_H
#define STACKBOX_PTRACE_PTRACE_SOURCE_H

#include "find/event_values.h"
#include "ptrace/tracer.h"
#include "rings/ring_collectors.h"
#include "symbolize/kernel_frames.h"

#define PTRACE_MOST_FREQUENCY 997

struct ptrace_options {
    struct scope *scope;          /* the run's, open when the collector is opened */
    struct ring_unwind *unwind;   /* likewise; how user stacks are walked */
    struct processes **processes; /* set once collecting starts: told of task events from then on */
    struct capture capture;       /* what is collected; depth 0: the kernel's limit */
    uint64_t frequency;           /* of ticks */
    uint64_t stacks;              /* distinct ones between two reports; 0: by free memory */
    /* Of hits: */
    size_t breakpoints;           /* in each thread, at most */
    const struct event_values *values; /* by programs: see attach_program_of */
    /* Of times: */
    const char *waits; /* in these states, as in /proc/TID/stat, */
    bool runnable;     /* and waiting for a CPU; */
    bool all;          /* or everything, each part with its mark */
};

/* What these collectors share: their first member. */
struct ptrace_source {
    struct collector collector;
    struct ptrace_options options;
    const struct tracer_calls *calls;
    const struct machine *machine;
    struct tracer tracer;
    struct processes *processes; /* NULL: not yet */
    struct tally table;
    pthread_mutex_t lock;
    struct unwind_state *state;  /* the last sample's, with `kept` bytes of */
    unsigned char *stack;        /* its stack */
    uint64_t *frames;            /* room for one walked by frame pointers */
    struct stack_texts texts;    /* the kernel's frames: a stack has their numbers as addresses */
    uint32_t depth;
    uint64_t period;             /* ns */
    uint64_t most_waited;        /* ns that a thread may owe until it is sampled where it waits */
    uint32_t ticks;
    uint64_t filtered, counted, table_full;
    int failure;                 /* a negative errno */
    bool is_open;
};

/* `calls` get the source as their context. */
void ptrace_source_init(struct ptrace_source *source, const struct ptrace_options *options,
                        const struct tracer_calls *calls);
extern const struct collector_calls ptrace_source_calls;

/* Does the filter take the thread, which was on that CPU? */
bool ptrace_source_wants(const struct ptrace_source *source, const struct tracee *tracee,
                         unsigned cpu);

/* Takes a sample of a thread that has stopped. */
void ptrace_source_take(struct ptrace_source *source, struct tracee *tracee);
/* Takes a sample of a thread that is blocked at `call`, of which only pc and sp are known. */
void ptrace_source_take_at(struct ptrace_source *source, struct tracee *tracee,
                           const struct tracee_call *call);
/* The pc of a stopped thread of a 32-bit program, whose stack is not taken. 0: unknown. */
uint64_t ptrace_source_narrow_pc(const struct ptrace_source *source, const struct tracee *tracee);
/* The return address, if the last sample is at a function's first instruction. 0: unknown. */
uint64_t ptrace_source_caller(const struct ptrace_source *source);
/* The stack of the last sample, valid until the next is walked. */
struct ring_stack ptrace_source_walk(struct ptrace_source *source, struct tracee *tracee);

/* Sets tracee->kernel to where the thread is blocked in the kernel, if that is asked for. */
void ptrace_source_take_kernel(struct ptrace_source *source, struct tracee *tracee);

/* Counts `value` so many times under the thread with that stack. */
struct ptrace_count {
    struct ring_stack user;
    bool with_kernel; /* and with tracee->kernel */
    enum tally_mark mark;
    uint64_t value, times;
};
void ptrace_source_count(struct ptrace_source *source, const struct tracee *tracee,
                         const struct ptrace_count *count);

/* Fills in the process and the name under which the thread is counted. */
void ptrace_source_task(const struct ptrace_source *source, const struct tracee *tracee,
                        struct tally_task *who);

/* Counts what the filter leaves out. */
void ptrace_source_leave_out(struct ptrace_source *source, uint64_t times);

/* At the end of a run: says whether programs ran without their owner's rights. */
void ptrace_source_say(const struct ptrace_source *source);

/*
 * Counts samples of threads that run. A sample stands for a period of CPU time: a thread gets as
 * many as it took periods, whenever ticks come.
 */
struct ptrace_counts {
    struct ptrace_source source;
    uint64_t samples; /* how many periods the last sample stands for; 0: none was taken */
    int64_t owed;     /* by threads that have ended: see struct tracee */
};

/* The options may still be changed until the collector is opened. */
void ptrace_counts_init(struct ptrace_counts *counts, const struct ptrace_options *options);

/*
 * Sums up threads' time in nanoseconds: running and waiting for a CPU as the scheduler counts it,
 * blocked for the rest. What a thread spent in a state goes to the stack at which the next tick
 * finds it in that state.
 */
struct ptrace_times {
    struct ptrace_source source;
    bool is_blocked, runs, waits; /* what the last sample is of: any of these */
};

void ptrace_times_init(struct ptrace_times *times, const struct ptrace_options *options);

/*
 * Hits of user functions, by hardware breakpoints, and system calls: counts of them, or single
 * events. If there are system calls among the places, each thread stops twice at every call. So do
 * the threads of a process until it has mapped all libraries with places.
 */
struct ptrace_hits {
    struct ptrace_source source; /* attach with ptrace_attach */
    struct ptrace_point {
        const struct place *place; /* the applet's */
        size_t number;
        const struct event_values *values;
        bool at_entry, in_library;
    } points[BREAKPOINTS_MOST];
    size_t count;
    struct ptrace_point *calls; /* of system calls, whose places have their numbers */
    size_t call_count, call_room;
    bool has_returns;  /* the last breakpoint is where a function returns to */
    bool is_hit;       /* the last stop is a hit that counts: */
    const struct ptrace_point *hit; /* where, */
    uint64_t numbers[MOST_VALUES]; /* its values, */
    uint64_t times;    /* how often it counts */
    unsigned cpu, far; /* its CPU; how many hits were last on other CPUs than the tracer */
    size_t stops;      /* at system calls that are not counted */
    uint64_t hit_at;   /* when the hit was, until it is delivered; then 0 */
    bool is_ready;     /* at the last tick all threads had their breakpoints */
    /* Of single events: records, each after its size. */
    struct snoop_record *record;
    struct text queue;
    size_t queue_bytes;
    uint64_t lost, settled;
    uint64_t sum, wraps, negative; /* of the values that are summed */
    int bell;          /* rings when there is one */
};

/* `queue_bytes`: of events that wait to be read; 0: hits are counted. */
void ptrace_hits_init(struct ptrace_hits *hits, const struct ptrace_options *options,
                      size_t queue_bytes);

/* 0: this kernel tells which system call it is, as it does since Linux 5.3; or a negative errno. */
int ptrace_hits_try_calls(void);

/* attach_request.instead, for a struct ptrace_hits. */
extern const struct attach_instead ptrace_attach;

#endif
