/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Whose events are collected, as far as programs decide by maps: those of the tasks asked for and
 * their descendants, not our own; and which program a process ran at what time.
 */
#ifndef STACKBOX_COLLECT_SCOPE_H
#define STACKBOX_COLLECT_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "insns/filter.h"
#include "insns/programs.h"
#include "kernel/refusal.h"
#include "kernel/tracefs.h"

/*
 * The processes and threads asked for, but not others that get their numbers later; and what this
 * thread forks, or they do, with all descendants, whatever user they run as.
 */

struct follow {
    int map, asked; /* below 0: none */
    uint32_t size;
    struct tracepoint birth, exec;
};
#define FOLLOW_NONE {-1, -1, 0, TRACEPOINT_NONE, TRACEPOINT_NONE}

/*
 * A process asked for in which a thread other than the first has executed a program (4.17); 0: none
 * has. In the initial namespace, that thread, if asked for, is then asked for by its new number.
 */
uint32_t follow_other(const struct follow *follow, const struct event_filter *filter);

/*
 * From now on, what the calling thread forks is followed from its exec on, with all its
 * descendants. If the filter has pids, their children are followed, from the start, and they
 * themselves are picked as well, by follow_ask. `filter`, whose pid namespace is set, then picks
 * only those. 0, or a negative errno with what was refused in *what. follow_close after either.
 */
int follow_open(struct follow *follow, struct event_filter *filter, enum refused *what);
void follow_close(struct follow *follow);

/*
 * The map of the tracer's own processes (insns/layout.h), in which programs look up whether an
 * event is ours. It is written through shared memory, if the kernel allows that: a bpf(2) call
 * would keep programs from running meanwhile.
 */

struct self_filter {
    int map;        /* 0: there is none */
    uint32_t *pids; /* OWN_PROCESSES of them, shared with forked processes */
    bool is_copied; /* they are copied into the map: it cannot be shared (before 5.5) */
};

/*
 * Maintains the maps of lives (insns/layout.h) while tracing runs: events then tell which program a
 * process was running, and whose a pid was.
 */

struct lifetimes {
    struct life_maps maps;
    uint32_t most_ended;
    struct tracepoint begins, ends;
};

/*
 * Maintains the maps from now on, for processes of the filter's pid namespace. 0, or a negative
 * errno: this kernel or our rights do not allow it, and the maps are closed. lifetimes_close after
 * either.
 */
int lifetimes_open(struct lifetimes *lifetimes, const struct event_filter *filter);
void lifetimes_close(struct lifetimes *lifetimes);

struct scope {
    struct event_filter filter; /* programs are made with this */
    struct follow follow; /* the command's descendants */
    struct self_filter own;       /* whose events are left out */
    struct lifetimes lifetimes;
    int lifetimes_refused; /* 0, or the negative errno for which there are none */
    uint32_t command; /* the pid of the stopped command; 0: none */
    bool follows;     /* the children of the processes asked for, too */
    /* by rings: a thread asked for has executed a program, and has this number now */
    uint32_t went_on;
};

/* An empty one, which scope_close accepts; the filter's numbers are the caller's. */
void scope_init(struct scope *scope);
void scope_close(struct scope *scope);

/*
 * For filter.cgroup: a map of that directory's cgroup, or, `by_rings`, the directory itself. A
 * descriptor, which is the caller's or the filter's, or a negative errno: -EBADF if it is not a
 * cgroup v2 directory.
 */
int scope_open_cgroup(const char *path, bool by_rings);

/* Leaves our own processes out. A kernel that refuses the map has no events of ours that matter. */
void scope_leave_own_out(struct scope *scope, bool by_rings);

/*
 * Makes the map that tells programs which processes and threads are asked for. 0, or a negative
 * errno with the reason in `why`.
 */
int scope_ask(struct scope *scope, struct text *why);
/* Is a thread asked for alive, maybe under its process's number since it executed a program? */
bool scope_thread_lives(const struct scope *scope);
/*
 * From now on, if nothing is followed, a new task that gets a number asked for is not taken for the
 * old one. 0, or a negative errno if that is impossible here: before Linux 4.7, without the right
 * to task:task_newtask, or, in a namespace, without knowing tasks' numbers.
 */
int scope_watch_asked(struct scope *scope);

/*
 * From now on follows what the calling thread forks, and nothing else, or what the processes asked
 * for fork (see above). 0 or a negative errno, with the reason in `why`.
 */
int scope_follow(struct scope *scope, struct text *why);

/* From now on execs and exits of processes are counted; see lifetimes_refused. */
void scope_count_lifetimes(struct scope *scope);

/*
 * Attaches exec programs by perf, so that a perf program attached to sched_process_exec after this
 * finds maps that are up to date. Our raw tracepoints' programs run after it if another tracer's
 * program was at that tracepoint before them.
 */
#define SCOPE_FIRST 2
void scope_come_first(const struct scope *scope, int tracefs, struct tracepoint *first);

/* What may be wrong about events' processes, in the run until now. */
struct scope_losses {
    /* forks and execs that the kernel skipped (5.12): children may be followed wrongly */
    uint64_t follow_missed;
    uint32_t outgrown;      /* not 0: processes with pids above this are not followed */
    uint64_t lifetimes_missed;  /* execs and exits of processes, likewise */
    uint64_t crowded_out;   /* programs that are not remembered */
    bool forgets;           /* exits of processes may have been forgotten */
};
struct scope_losses scope_losses(const struct scope *scope);

#endif
