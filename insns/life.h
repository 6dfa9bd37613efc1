/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The programs that maintain the maps of lives (layout.h), on the raw tracepoints
 * sched_process_exec and sched_process_exit. A stack that carries the maps' word of its moment
 * cannot be mistaken for one of another program that the same process ran before or after, or of
 * another process with its pid.
 */
#ifndef STACKBOX_INSNS_LIFE_H
#define STACKBOX_INSNS_LIFE_H

#include "insns/filter.h"
#include "insns/program.h"
#include "insns/task.h"

/* Descriptors. Below 0: there are none. */
struct life_maps {
    int living, ended, account;
};
#define LIFE_MAPS_NONE {-1, -1, -1}

/* Gives them names for dumps. */
void life_name_maps(struct program *program, const struct life_maps *maps);

/*
 * For sched_process_exec. In the filter's pid namespace, processes go by their numbers there, where each may come
 * again by itself; those outside are in no map.
 */
void emit_life_begins(struct program *program, const struct life_maps *maps, const struct event_filter *filter);
/*
 * For sched_process_exit. How it is known whether the process has no more threads: by its second
 * word (6.16); from the kernel's memory, at these offsets (5.5); or a process is taken to end with
 * its first thread.
 */
enum life_telling {
    LIFE_TOLD,
    LIFE_READ,
    LIFE_GUESSED,
};
void emit_life_ends(struct program *program, const struct life_maps *maps, enum life_telling telling,
                    const struct task_fields *fields, const struct event_filter *filter);

/*
 * *(u64 *)(r8 + place) = what the maps say about the current process; left unchanged if they say
 * nothing. `pid_known`: r7 is pid << 32 | tid, as from emit_load_pid with `foreign`; that is 0 outside pid
 * namespaces, where the pid need not be known. Uses 4 bytes at `key` on the stack. r0 to r5 are lost.
 */
void emit_load_life(struct program *program, const struct life_maps *maps, bool pid_known, int16_t foreign,
                    int16_t key, int16_t place);

#endif
