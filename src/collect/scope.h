/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Whose events are collected, where the kernel decides that by maps: the command and all that comes of it,
 * nobody of our own, one cgroup; and which program a process ran when.
 */
#ifndef STACKBOX_COLLECT_SCOPE_H
#define STACKBOX_COLLECT_SCOPE_H

#include "base/text.h"
#include "insns/filter.h"
#include "maps/follow.h"
#include "maps/lives.h"
#include "maps/own.h"

struct scope {
    struct event_filter filter; /* what programs are made with */
    struct follow follow; /* who comes of the command */
    struct own own;       /* whose events are left out */
    struct lives lives;
    int lives_refused; /* 0, or why there are none: a negative errno */
    uint32_t command; /* that is held, by its pid; 0: none */
};

/* One that holds nothing, which scope_close takes; the filter's numbers are the caller's. */
void scope_init(struct scope *scope);
void scope_close(struct scope *scope);

/*
 * For filter.cgroup: a map of the cgroup of that directory, or, `by_rings`, the directory itself. A descriptor,
 * which is the caller's or the filter's, or a negative errno: -EBADF where it is no directory of cgroup v2.
 */
int scope_open_cgroup(const char *path, bool by_rings);

/* None of ours. Where there can be no such map there can be none of those that matter. */
void scope_leave_own_out(struct scope *scope, bool by_rings);

/*
 * From here on whom the calling thread forks is followed, and nobody else (follow.h). 0 or a negative
 * errno, with the reason in `why`.
 */
int scope_follow(struct scope *scope, struct text *why);

/* From here on execs and ends of processes are counted; see lives_refused. */
void scope_tell_lives(struct scope *scope);

/* What may be wrong with whom it was, of the run until now. */
struct scope_losses {
    uint64_t follow_missed; /* forks and execs that the kernel skipped */
    uint32_t outgrown;      /* not 0: processes with numbers above this are not followed */
    uint64_t lives_missed;  /* execs and ends of processes, likewise */
    uint64_t crowded_out;   /* programs that are not kept in mind */
    bool forgets;           /* ends of processes may have been forgotten */
};
struct scope_losses scope_losses(const struct scope *scope);

#endif
