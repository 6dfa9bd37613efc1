/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Whose events are collected, as far as the kernel decides by maps: the command and its
 * descendants, not our own, one cgroup; and which program a process ran when.
 */
#ifndef STACKBOX_COLLECT_SCOPE_H
#define STACKBOX_COLLECT_SCOPE_H

#include "base/text.h"
#include "insns/filter.h"
#include "maps/follow.h"
#include "maps/lives.h"
#include "maps/own.h"

struct scope {
    struct event_filter filter; /* programs are made with this */
    struct follow follow; /* the command's descendants */
    struct own own;       /* whose events are left out */
    struct lives lives;
    int lives_refused; /* 0, or the negative errno for which there are none */
    uint32_t command; /* the pid of the stopped command; 0: none */
    bool follows;     /* the children of the processes asked for, too */
    uint32_t went_on; /* by rings: a thread asked for has executed a program, and has this number now */
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

/*
 * Leaves our own processes out. If there can be no such map, there can be no such events that
 * matter.
 */
void scope_leave_own_out(struct scope *scope, bool by_rings);

/* Programs will know the processes and threads asked for. 0, or a negative errno with the reason in `why`. */
int scope_ask(struct scope *scope, struct text *why);
/* Does one of the threads asked for live, if under its process's number since it executed a program? */
bool scope_thread_lives(const struct scope *scope);
/* From now on, if nothing is followed, others with their numbers are none of these. As follow_asked. */
int scope_watch_asked(struct scope *scope);

/*
 * From now on follows what the calling thread forks, and nothing else, or what the processes asked
 * for fork (follow.h). 0 or a negative errno, with the reason in `why`.
 */
int scope_follow(struct scope *scope, struct text *why);

/* From now on execs and exits of processes are counted; see lives_refused. */
void scope_tell_lives(struct scope *scope);

/* What may be wrong about events' processes, in the run until now. */
struct scope_losses {
    uint64_t follow_missed; /* forks and execs that the kernel skipped */
    uint32_t outgrown;      /* not 0: processes with pids above this are not followed */
    uint64_t lives_missed;  /* execs and exits of processes, likewise */
    uint64_t crowded_out;   /* programs that are not remembered */
    bool forgets;           /* exits of processes may have been forgotten */
};
struct scope_losses scope_losses(const struct scope *scope);

#endif
