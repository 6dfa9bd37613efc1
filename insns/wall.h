/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The programs of walltime: on the tracepoints sched:sched_switch, sched:sched_wakeup,
 * sched:sched_wakeup_new, task:task_rename and sched:sched_process_exit, or the raw ones of these names, they
 * see which states threads are in (layout.h), since when, and under which name; and a sampling program gets the
 * stacks of running threads. Their wishes are those of offwake.h, with VIEW_WALL: threads, states and everything
 * from `least` on are ignored.
 */
#ifndef STACKBOX_INSNS_WALL_H
#define STACKBOX_INSNS_WALL_H

#include "insns/offwake.h"

void emit_wall_switch(struct program *program, const struct offwake_wishes *wishes);
/* `born`: the thread is new. */
void emit_wall_wakeup(struct program *program, const struct offwake_wishes *wishes, bool born);
void emit_wall_rename(struct program *program, const struct offwake_wishes *wishes);
/*
 * On sched:sched_process_exit, for a filter in_namespace: a thread loses its numbers there before it leaves its CPU
 * for the last time. From here on it is known whose it is.
 */
void emit_wall_exit(struct program *program, const struct offwake_wishes *wishes);
/* For a perf event that ticks on each CPU. */
void emit_wall_sample(struct program *program, const struct offwake_wishes *wishes);

#endif
