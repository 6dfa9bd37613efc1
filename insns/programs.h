/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The programs: one file each, which begins with what the program does, in C. */
#ifndef STACKBOX_INSNS_PROGRAMS_H
#define STACKBOX_INSNS_PROGRAMS_H

#include "insns/capture.h"
#include "insns/filter.h"
#include "insns/program.h"
#include "insns/task.h"

/*
 * stackcount and profile: adds one to the count of the stack that led to the event. The same code
 * for kprobe, kprobe.multi, tracepoint, uprobe and perf event programs.
 */
void emit_count(struct program *program, const struct capture *capture);

/*
 * The instruction with this label is MOV_IMM(R0, 0), with the context in r1 before it. The place's
 * number is put into it, or CALL(BPF_FUNC_get_attach_cookie) replaces it.
 */
#define SNOOP_PLACE_LABEL "place"

/*
 * stacksnoop: passes each event with its stacks to a buffer, as a snoop_record. The same code for
 * kprobe, kprobe.multi, tracepoint and uprobe programs.
 */
void emit_snoop(struct program *program, const struct capture *capture);

/* At the entries of user functions whose returns are traced. */
void emit_nested(struct program *program, const struct capture *capture);

/*
 * ---- stackcount for kernels that keep no stacks (before 4.6), and allow no loops ----
 *
 * The program walks frame pointers itself, step by step. Linux 4.4; only for kernel functions.
 */

/* With this many frames of one kind, or of each of both, the whole is below 4,096 instructions. */
#define UNROLLED_MOST_OF_ONE 127
#define UNROLLED_MOST_OF_BOTH 96

void emit_unrolled(struct program *program, const struct capture *capture);

/*
 * ---- The maps of lives (layout.h) ----
 *
 * On the raw tracepoints sched_process_exec and sched_process_exit. By the maps' word at its event,
 * a stack is told from those of other programs that the same process ran before or after, and from
 * those of other processes with its pid.
 */

/*
 * For sched_process_exec. If the filter is in a pid namespace, the maps have the numbers there,
 * which are reused independently of the host's; processes outside are in no map.
 */
void emit_life_begins(struct program *program, const struct life_maps *maps,
                      const struct event_filter *filter);
/*
 * For sched_process_exit. How the program learns that the process's last thread exits: from the
 * tracepoint's second word (6.16); from the kernel's memory, at these offsets (5.5); or it takes
 * the leader's exit for the process's end.
 */
enum life_telling {
    LIFE_TOLD,
    LIFE_READ,
    LIFE_GUESSED,
};
void emit_life_ends(struct program *program, const struct life_maps *maps,
                    enum life_telling telling, const struct task_fields *fields,
                    const struct event_filter *filter);

/*
 * *(u64 *)(r8 + place) = what the maps say about the current process; left unchanged if they say
 * nothing. `pid_known`: r7 is pid << 32 | tid, as from emit_load_pid with `foreign`. In the initial
 * pid namespace `foreign` is 0, and the pid need not be known. Uses 4 bytes at `key` on the stack.
 * r0 to r5 are lost.
 */
void emit_load_life(struct program *program, const struct life_maps *maps, bool pid_known,
                    int16_t foreign, int16_t key, int16_t place);

/*
 * ---- The maps of followed tasks and of numbers asked for (layout.h) ----
 *
 * On the tracepoint task:task_newtask, or the raw one of that name, and the raw tracepoint
 * sched_process_exec. A new task of any kind, including io_uring workers, inherits its creator's
 * state before its first instruction. If its number was asked for, the task that was meant has
 * ended, and the number is removed.
 */

struct follow_programs {
    /* the map; the namespace of `self`; pids whose children follow */
    const struct event_filter *filter;
    uint32_t self;                     /* without pids: what this thread forks is held */
    uint16_t pid;                      /* where task_newtask has the new task's number; or, if */
    struct task_fields task;           /* known, for a raw one, where the task has it */
};

/*
 * For either map, or both. In a namespace, only raw programs with a known `task` remove numbers.
 */
void emit_follow_birth(struct program *program, const struct follow_programs *programs);
/* A held command is followed from its exec on. */
void emit_follow_exec(struct program *program, const struct event_filter *filter);
/* A thread that calls exec gets its process's number. */
void emit_follow_thread(struct program *program, const struct event_filter *filter);

/*
 * ---- Waits: threads block, are woken and run again ----
 *
 * On the raw tracepoints sched_switch and, if wakers are asked for, sched_waking; without raw ones,
 * on those of tracefs. The kernel does not preempt these programs, and runs no other of their kind
 * on their CPU before they end.
 */

/* How much of a struct wait a value of the map of waits and a count's key hold. */
size_t offwake_wait_bytes(enum offwake_view view);
size_t offwake_key_bytes(enum offwake_view view);
/* How much of a struct blocked a count's value holds. */
size_t offwake_value_bytes(bool longest);

/* Not for VIEW_WALL, whose programs are below. */
void emit_switch(struct program *program, const struct capture *capture);
/* Nor for VIEW_OFFCPU. */
void emit_waking(struct program *program, const struct capture *capture);

/*
 * ---- walltime ----
 *
 * Programs on the tracepoints sched:sched_switch, sched:sched_wakeup, sched:sched_wakeup_new,
 * task:task_rename and sched:sched_process_exit, or the raw ones of these names, track each
 * thread's state (layout.h), since when it lasts, and the thread's name; a sampling program takes
 * the stacks of running threads. They ignore the capture's threads, states and everything from
 * `least` on.
 */

void emit_wall_switch(struct program *program, const struct capture *capture);
/* `is_new`: the thread is. */
void emit_wall_wakeup(struct program *program, const struct capture *capture, bool is_new);
void emit_wall_rename(struct program *program, const struct capture *capture);
/*
 * On sched:sched_process_exit, for a filter in_namespace: a thread loses its numbers there before
 * it leaves its CPU for the last time, so this program stores in its entry whose it is.
 */
void emit_wall_exit(struct program *program, const struct capture *capture);
/* For a perf event that ticks on each CPU. */
void emit_wall_sample(struct program *program, const struct capture *capture);

/*
 * ---- Names of kernel functions ----
 *
 * Not at an event: bpf_run_raw runs it. Linux 5.16, for BPF_PROG_TYPE_SYSCALL.
 */

/* `symbol` is an array of one struct kernel_symbol (layout.h); `format`, of "%pS", is frozen. */
void emit_kernel_symbol(struct program *program, int symbol, int format);

#endif
