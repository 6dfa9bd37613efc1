/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The programs that see threads block, be woken and run again, on the raw tracepoints sched_switch
 * and, if wakers are asked for, sched_waking; without raw ones, on those of tracefs. Neither can be
 * preempted, and no other program of their kind runs on their CPU before they end.
 */
#ifndef STACKBOX_INSNS_OFFWAKE_H
#define STACKBOX_INSNS_OFFWAKE_H

#include "insns/filter.h"
#include "insns/life.h"
#include "insns/program.h"
#include "insns/stacks.h"
#include "insns/task.h"

/* Whose stacks have the time, and until when a wait lasts. */
enum offwake_view {
    VIEW_OFFCPU,  /* the thread's that blocked, until it runs again */
    VIEW_WAKEUP,  /* the waker's, until it wakes */
    VIEW_OFFWAKE, /* both, until it runs again */
    VIEW_WALL,    /* walltime's, whose programs are in wall.c */
};

enum offwake_threads {
    THREADS_ALL,
    THREADS_USER,
    THREADS_KERNEL,
};

/* As prev_state of sched_switch: the state of a thread that leaves. */
enum task_state_bits {
    STATE_ENDING = 0x30,  /* dead, zombie: at a raw tracepoint, it never runs again */
    STATE_ANY = 0xff,     /* none of these: runnable; it was preempted or yielded */
    STATE_BLOCKED = STATE_ANY & ~STATE_ENDING,
};

struct offwake_wishes {
    enum offwake_view view;
    struct event_filter filter; /* for the thread that blocks, as it leaves */
    bool kernel_stack, user_stack;
    enum offwake_threads threads;
    uint32_t states; /* of STATE_BLOCKED: those that count */
    bool runnable;   /* being runnable but not running counts, too */
    uint64_t least, most; /* ns: shorter or longer waits do not count */
    bool longest;         /* keep the longest wait of each count, too */
    uint32_t depth;       /* frames per stack */
    struct task_fields task; /* known: the programs are for raw tracepoints; */
    /* otherwise where the tracepoints' fields are. */
    int16_t prev_pid, prev_state, next_pid, target_pid;
    int16_t renamed_pid, new_comm; /* for VIEW_WALL, of task_rename; the first is 0 where there is none (6.14) */
    bool wide_state; /* prev_state has 64 bits, otherwise 32 */
    /* Descriptors of the maps that layout.h describes. */
    int control, account, slots, waits;
    int cuts, rests; /* for VIEW_WALL: see wall_parts.h */
    struct life_maps lives;
    struct bank_maps banks;
    const struct unwind_wishes *unwind; /* user stacks by tables; NULL: only by frame pointers */
};

/* How much of a struct wait a value of the map of waits and a count's key hold. */
size_t offwake_wait_bytes(enum offwake_view view);
size_t offwake_key_bytes(enum offwake_view view);
/* And a count's value of a struct blocked. */
size_t offwake_value_bytes(bool longest);

/* Not for VIEW_WALL, whose programs are in wall.h. */
void emit_switch(struct program *program, const struct offwake_wishes *wishes);
/* Nor for VIEW_OFFCPU. */
void emit_waking(struct program *program, const struct offwake_wishes *wishes);

#endif
