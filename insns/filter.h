/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Fragments that decide whether an event passes the filter, and load its task's numbers. Each goes
 * to the program's label "filtered" if the event does not pass; r0 to r5 are lost.
 */
#ifndef STACKBOX_INSNS_FILTER_H
#define STACKBOX_INSNS_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "insns/layout.h"
#include "insns/program.h"
#include "insns/task.h"

struct event_filter {
    const uint32_t *pids, *tids; /* in the caller's pid namespace */
    size_t pid_count, tid_count;
    int asked; /* the map of these, if there are any */
    /* At the event, the task must have one of these names and one of these real users, if any. */
    const char (*comms)[COMM_BYTES]; /* padded with NULs */
    const uint32_t *uids;            /* in the initial user namespace */
    size_t comm_count, uid_count;
    int64_t cpu; /* -1: all */
    int cgroup;  /* a map with the cgroup whose tasks are asked for; 0: all */
    int followed; /* the map of followed tasks: only these and `pids` are asked for; 0: all */
    uint32_t followed_size; /* of its value */
    int own; /* the map of the tracer's processes, whose events are left out; 0: none are */
    /* The caller's pid namespace, unless it is the initial one. */
    bool in_namespace;
    uint64_t namespace_device, namespace_inode;
    const struct pid_fields *numbers; /* NULL: tasks in namespaces below it count as outside */
};

/* Is anything filtered, so that the label "filtered" is needed? */
bool filter_asks(const struct event_filter *filter);
/* Is anything filtered but the tracer's own processes? */
bool filter_asks_others(const struct event_filter *filter);
/* Does the filter pass this comm, which is padded with NULs or ends with one? */
bool filter_takes_name(const struct event_filter *filter, const char *comm);
/* Does it pass this real uid? */
bool filter_takes_user(const struct event_filter *filter, uint32_t uid);
/* Does it test what a task can change, so that a verdict does not hold for the next event? */
bool filter_may_change(const struct event_filter *filter);

/*
 * r0 = the current task's byte in the map of followed tasks, r2 = the byte's address. Goes to the
 * label `beyond` if the host's tid is too large for the map. The register `tid`, r7 or r8, is lost;
 * uses 4 bytes at r10 + index.
 */
void emit_load_followed(struct program *program, const struct event_filter *filter, unsigned tid,
                        int16_t index, const char *beyond);

/* Where a filter has its bytes on the stack, and where it goes. */
struct filter_places {
    int16_t foreign, scratch; /* 4 and 8 bytes */
    /*
     * A label, or NULL: code for tasks without a number in the caller's pid namespace. If it finds
     * r7 by other means, it goes to "numbers_known", otherwise to filter_outside().
     */
    const char *numberless;
    int16_t comm; /* 16 bytes, if names are asked for */
};

/* The label for tasks of other pid namespaces. */
const char *filter_outside(const struct event_filter *filter);

/*
 * r7 = pid << 32 | tid of the current task in the caller's pid namespace, *(u32 *)(r10 + foreign) =
 * 0; outside it, the numbers of the initial namespace, and 1. Uses 8 bytes at r10 + scratch.
 */
void emit_load_anybody(struct program *program, const struct event_filter *filter, int16_t foreign,
                       int16_t scratch);
/* The same, but goes to `outside` for a task outside that namespace. */
void emit_load_inside(struct program *program, const struct event_filter *filter, int16_t foreign,
                      int16_t scratch, const char *outside);

/*
 * r0 = the bits (enum asked_for) of the number r0 in the map of processes and threads asked for;
 * goes to `none` if it has no entry. Uses 4 bytes at r10 + key.
 */
void emit_look_up_asked(struct program *program, const struct event_filter *filter, int16_t key,
                        const char *none);
/* The same for the pid in r7. */
void emit_look_up_process(struct program *program, const struct event_filter *filter, int16_t key,
                          const char *none);

/*
 * All of the above, cheapest first; r6 holds the context before and after. r7 is set if any task
 * was asked for or left out, or with `load_pid`; the word `foreign` is cleared first. r8 is lost.
 */
void emit_event_filter(struct program *program, const struct event_filter *filter,
                       const struct filter_places *places, bool load_pid);

#endif
