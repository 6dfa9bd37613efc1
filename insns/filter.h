/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Fragments that decide whether an event is one that was asked for, and whose it is. Each goes to the
 * program's label "filtered" when it is not; r0 to r5 are lost.
 */
#ifndef STACKBOX_INSNS_FILTER_H
#define STACKBOX_INSNS_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "insns/program.h"

struct event_filter {
    const uint32_t *pids, *tids; /* as the caller's pid namespace numbers them */
    size_t pid_count, tid_count;
    int64_t cpu; /* -1: all */
    int cgroup;  /* a map that holds the one whose tasks are asked for; 0: all */
    int followed; /* the map of who is followed, and nobody else is asked for but `pids`; 0: all */
    uint32_t followed_size; /* of its value */
    int own; /* the map of the processes that trace, of which there are no events; 0: of all */
    /* The caller's pid namespace, where that is not the initial one. */
    bool in_namespace;
    uint64_t namespace_device, namespace_inode;
};

/* Is there any event that is not asked for, so that the label "filtered" is needed? */
bool filter_asks(const struct event_filter *filter);
/* And that of another process than those that trace? */
bool filter_asks_others(const struct event_filter *filter);

/* Not on another CPU than the one asked for. */
void emit_cpu_filter(struct program *program, const struct event_filter *filter);

/* Not of a task outside the cgroup asked for and those below it. */
void emit_cgroup_filter(struct program *program, const struct event_filter *filter);

/*
 * r0 = what the map of who is followed says of the current task, r2 = where it says so. It goes to
 * the label `beyond` where the map has no place for it. The register `tid`, r7 or r8, is lost; 4 bytes at
 * r10 + index are used.
 */
void emit_load_followed(struct program *program, const struct event_filter *filter, unsigned tid,
                        int16_t index, const char *beyond);

/*
 * r7 = pid << 32 | tid of the current task, by the caller's pid namespace. A task that is in no
 * such namespace is none of those asked for; where none was asked for, r7 is what the initial
 * namespace says, and *(u32 *)(r10 + foreign) = 1. `scratch` is a place of 8 bytes on the stack.
 */
void emit_load_pid(struct program *program, const struct event_filter *filter, int16_t foreign,
                   int16_t scratch);

/* On to `found` where r7, as emit_load_pid made it, is of one of the processes asked for. */
void emit_if_pid(struct program *program, const struct event_filter *filter, const char *found);

struct filter_places {
    int16_t foreign, scratch; /* of 4 and 8 bytes */
};

/*
 * Of none of the processes that trace, r7 being what emit_load_pid made. Whoever is asked for by number,
 * or as a command, is nobody of them.
 */
void emit_own_filter(struct program *program, const struct event_filter *filter,
                     const struct filter_places *places);

/*
 * All of the above, the cheapest first; r6 holds the context before and after. r7 is set where
 * somebody was asked for or left out, or with `load_pid`; the word `foreign` is cleared first. r8 is lost.
 */
void emit_event_filter(struct program *program, const struct event_filter *filter,
                       const struct filter_places *places, bool load_pid);

#endif
