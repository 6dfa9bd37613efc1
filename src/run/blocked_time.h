/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A run of the applets that sum up threads' time. It speaks to the user. */
#ifndef STACKBOX_RUN_BLOCKED_TIME_H
#define STACKBOX_RUN_BLOCKED_TIME_H

#include "collect/bpf_counts.h"
#include "insns/programs.h"
#include "run/sampled.h"
#include "run/trace_options.h"
#include "store/blocked_threads.h"
#include "store/waits.h"
#include "symbolize/kernel_frames.h"
#include "tally/tally.h"

/*
 * What is found out about waits only once they are in the tally: who the wakers really were, and
 * who never ran.
 */

/*
 * A wakeup by an interrupt is not the interrupted thread's doing: its waker is the interrupt,
 * without numbers and user stack, and keeps that thread's name only with `bystanders`. Without
 * `kernel` no waker keeps its kernel stack, which was only taken for this.
 */
void blocked_judge_wakers(const struct interrupts *interrupts, bool kernel, bool bystanders,
                          struct tally *tally);

/* Threads as /proc showed them at some moment. {0} is empty. */
struct listed_threads {
    struct blocked_thread *threads; /* without stacks: those are in `texts`, one after another, */
    size_t *frames;                 /* with so many frames each */
    size_t count, room, frames_room;
    struct stack_texts texts;
};

/*
 * Lists them anew, with `kernel` with the kernel stacks of those that do not run. 0 or a negative
 * errno.
 */
int listed_threads_list(struct listed_threads *listed, const struct blocked_filter *filter,
                        bool kernel);
void listed_threads_free(struct listed_threads *listed);

/*
 * Adds those that were not seen to block, with that mark, or, if they could run, as running. Stacks
 * by
 * /proc/kallsyms, open as `kallsyms`. 0 or a negative errno.
 */
struct blocked_all_along {
    const struct waits *waits; /* after the last report */
    uint64_t time; /* ns */
    enum tally_mark mark;
    int kallsyms;
};
int blocked_add_all_along(struct listed_threads *listed, const struct blocked_all_along *all_along,
                          struct tally *tally);

/*
 * Where threads were blocked when tracing began: their kernel stacks, which no program has seen.
 * For walltime.
 */

struct first_wait {
    uint32_t tid;
    size_t first, frames; /* in the texts */
};

/* {0} is empty. */
struct first_waits {
    struct stack_texts texts;
    struct first_wait *waits;
    size_t count, room;
    bool are_found; /* the texts have addresses */
};

/*
 * To be called once tracing has begun: a thread that is blocked, passes the filter and is not in
 * the map of waits has been in this wait since then. 0 or a negative errno.
 */
int first_waits_note(struct first_waits *first, const struct blocked_filter *filter, int map);

/* Adds them to entries of blocked time without stacks. By /proc/kallsyms, open as `kallsyms`. */
int first_waits_give(struct first_waits *first, int kallsyms, struct tally *tally);
void first_waits_free(struct first_waits *first);

/*
 * What walltime has besides switches and wakeups (blocked_time.c): samples, and threads that no
 * switch reports. It speaks to the user.
 */

struct wall_time {
    struct sampled sampled;
    struct blocked_filter threads; /* those asked for */
    struct first_waits first;
    struct listed_threads listed; /* before the last report */
    int unseen; /* the negative errno for which not all of the first waits are known; or 0 */
};
#define WALL_TIME_NONE {.sampled.config.program = -1}

/* Samples, `frequency` times a second on each CPU. 0 or the exit status. */
int wall_time_attach(struct wall_time *wall, const struct capture *capture,
                     const struct trace_options *options, uint64_t frequency);

/* Just before events are counted: unknown threads are looked for among these, in /proc. */
void wall_time_begin(struct wall_time *wall, const struct blocked_filter *threads,
                     struct wall_report *report);
/* And just after, if they are to have kernel stacks: in which calls they are blocked. */
void wall_time_look(struct wall_time *wall, int map);

/*
 * To be called before each report: threads that no switch will have reported are among these, and
 * some may have ended after it. 0 or a negative errno.
 */
int wall_time_list(struct wall_time *wall, struct blocked_filter *threads, bool kernel,
                   struct wall_report *report);
/*
 * And after it: adds what no switch has reported; the time and the mark of `all_along` are set
 * here. 0 or a negative errno.
 */
int wall_time_add(struct wall_time *wall, const struct wall_report *report,
                  struct blocked_all_along *all_along, struct tally *tally);

void wall_time_add_losses(struct wall_time *wall, struct losses *losses);
void wall_time_close(struct wall_time *wall);

struct blocked_time_config {
    struct trace_options *trace;
    enum offwake_view view;
    enum offwake_threads threads;
    uint32_t states;      /* of STATE_BLOCKED: those that count */
    const char *letters;  /* the same as in /proc */
    bool runnable;        /* being runnable but not running counts, too */
    uint64_t least, most; /* ns: shorter or longer waits do not count */
    bool pairs;           /* the text is who waits for whom, without stacks */
    bool unfinished;      /* waits that had not ended go into the last report */
    uint64_t frequency;   /* of VIEW_WALL: samples per second on each CPU; 0: by default */
};

/* Returns the exit status, with errors reported. */
int blocked_time_run(const struct blocked_time_config *config);

#endif
