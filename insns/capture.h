/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the programs of a run collect, of whose events, and the maps that they put it into
 * (layout.h). The run fills it in (run/session.h); what depends on the event that a program is for,
 * the applet.
 */
#ifndef STACKBOX_INSNS_CAPTURE_H
#define STACKBOX_INSNS_CAPTURE_H

#include "insns/condition.h"
#include "insns/filter.h"
#include "insns/machine.h"
#include "insns/task.h"
#include "insns/unwind.h"

/* Descriptors. Below 0: there are none. */
struct life_maps {
    int living, ended, account;
};
#define LIFE_MAPS_NONE {-1, -1, -1}

struct bank_maps {
    int first[BANK_MAPS];   /* the maps of CONTROL_MAIN */
    int others[BANK_MAPS];  /* maps of such maps, with the other banks' at the bank's word */
    uint32_t shallow_depth; /* stacks up to this depth are shallow; 0: BANK_SHALLOW is not used */
    bool unrolls; /* programs have no loops: stacks have at most UNROLLED_DEPTH frames */
};
/* For a program without loops, with both stacks: below 4,096 instructions. */
#define UNROLLED_DEPTH 256

/* For the main bank: the map that get_stackid fills, and which of its buckets are settled. */
struct stack_ids {
    int map, settled;
    uint32_t buckets; /* 0: none, all stacks are kept by their own hash */
};

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

struct capture {
    struct event_filter filter; /* for waits, of the thread that blocks, as it leaves */
    bool kernel_stack, user_stack;
    bool per_process;  /* tell processes apart: by pid and name */
    bool per_thread;   /* and their threads, by tid */
    bool without_idle; /* leave out idle CPUs: the idle tasks, pid 0 */
    uint32_t depth;    /* frames per stack */
    const struct unwind_config *unwind; /* user stacks by tables; NULL: only by frame pointers */

    /* ---- The maps: descriptors ---- */
    int control, account, slots;
    struct life_maps lifetimes;
    struct stack_ids ids;
    struct bank_maps banks;

    /* ---- The event that a program is for: of count.c, snoop.c and unrolled.c ---- */
    uint32_t flags;   /* KEY_USER_PROBE, KEY_NO_CALLER, KEY_KERNEL_START...: of every event */
    bool meets;       /* may nest with other programs (fragments.h); those on user probes may */
    bool caller;      /* it is at a user function's first instruction */
    const struct machine *machine; /* the kernel's: tells where the caller is */
    const struct event_condition *condition; /* a further condition; or NULL */
    const struct event_value *sum; /* counts are struct summed, and this is summed up; or NULL */

    /* ---- stacksnoop ---- */
    const struct event_value *values; /* also in the record */
    size_t value_count;
    /* `buffer` is a BPF_MAP_TYPE_RINGBUF, otherwise a PERF_EVENT_ARRAY; slots are only for that */
    bool to_ring;
    int buffer;

    /* ---- Kernels that keep no stacks: unrolled.c ---- */
    bool at_start;  /* the event is at a function's first instruction */
    bool from_regs; /* the kernel's entry saves the user's frame pointer, and may clear it */
    /* how far the kernel's stack is walked towards the user's: UNROLLED_MOST_OF_BOTH */
    uint32_t steps;
    uint32_t bits;  /* a bank has 1 << bits buckets */
    int scratches, buckets;

    /* ---- Waits: offwake.c and wall.c ---- */
    enum offwake_view view;
    enum offwake_threads threads;
    uint32_t states; /* of STATE_BLOCKED: those that count */
    bool runnable;   /* being runnable but not running counts, too */
    uint64_t least, most; /* ns: shorter or longer waits do not count */
    bool longest;         /* keep the longest wait of each count, too */
    int waits;
    int cuts, rests; /* for VIEW_WALL: see wait.h */
    struct task_fields task; /* known: the programs are for raw tracepoints; */
    /* otherwise where the tracepoints' fields are. */
    int16_t prev_pid, prev_state, next_pid, target_pid;
    /* for VIEW_WALL, of task_rename; the first is 0 where there is none (6.14) */
    int16_t renamed_pid, new_comm;
    bool wide_state; /* prev_state has 64 bits, otherwise 32 */

    struct nesting_fields nesting; /* nested.c */
};

#endif
