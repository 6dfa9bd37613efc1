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

/* Threads as /proc showed them at some moment. {0} is empty. */
struct listed_threads {
    struct blocked_thread *threads; /* without stacks: those are in `texts`, one after another, */
    size_t *frames;                 /* with so many frames each */
    size_t count, room, frames_room;
    bool kernel;                    /* of those that do not run; else none has frames */
    struct stack_texts texts;
};

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
 * What walltime has besides switches and wakeups (blocked_time.c): samples, and threads that no
 * switch reports. It speaks to the user.
 */

struct wall_time {
    struct sampled sampled;
    struct blocked_filter threads; /* those asked for */
    struct first_waits first;
    struct listed_threads listed; /* before the last report */
    int unseen; /* 0, or a negative errno: why not all of the first waits are known */
};
#define WALL_TIME_NONE {.sampled.config.program = -1}

/* Just before counting begins: the report will look for unknown threads among these, in /proc. */
void wall_time_begin(struct wall_time *wall, const struct blocked_filter *threads,
                     struct wall_report *report);
/* Just after counting has begun, for kernel stacks: notes where threads are blocked already. */
void wall_time_look(struct wall_time *wall, int map);

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
