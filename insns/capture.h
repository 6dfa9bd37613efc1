/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the programs of a run collect, from which tasks, and the maps (layout.h) that they write to.
 * The run fills it in (run/session.h), but the applet sets what depends on a program's event.
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
/* Keeps a program without loops that walks both stacks below 4,096 instructions. */
#define UNROLLED_DEPTH 256

/* For the main bank: the map that get_stackid fills, and which of its buckets are settled. */
struct stack_ids {
    int map, settled;
    uint32_t buckets; /* 0: none, all stacks are kept by their own hash */
};

/* Which thread's stacks a wait is charged to, and when the wait ends. */
enum offwake_view {
    VIEW_OFFCPU,  /* the blocked thread's; when that runs again */
    VIEW_WAKEUP,  /* the waker's; at the wakeup */
    VIEW_OFFWAKE, /* both threads'; when the blocked one runs again */
    VIEW_WALL,    /* walltime's, whose programs are in wall.c */
};

enum offwake_threads {
    THREADS_ALL,
    THREADS_USER,
    THREADS_KERNEL,
};

/* Bits of sched_switch's prev_state: the state of a thread that leaves its CPU. */
enum task_state_bits {
    STATE_ENDING = 0x30,  /* dead, zombie: at a raw tracepoint, the thread never runs again */
    STATE_ANY = 0xff,     /* no bit set: runnable, the thread was preempted or yielded */
    STATE_BLOCKED = STATE_ANY & ~STATE_ENDING,
};

struct capture {
    struct event_filter filter; /* for waits: applied to the blocking thread as it leaves its CPU */
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

    /* ---- The program's event: for count.c, snoop.c and unrolled.c ---- */
    uint32_t flags;   /* KEY_USER_PROBE, KEY_NO_CALLER, KEY_KERNEL_START...: of every event */
    bool meets;       /* may nest with other programs (fragments.h); those on user probes may */
    bool caller;      /* the event is at a user function's first instruction */
    const struct machine *machine; /* the kernel's: tells where the return address is */
    const struct event_condition *condition; /* a further condition; or NULL */
    const struct event_value *sum; /* summed up, in counts of struct summed; or NULL */

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
    struct task_fields task; /* known: programs are for raw tracepoints; otherwise, for those of */
    /* tracefs, whose fields have these offsets: */
    int16_t prev_pid, prev_state, next_pid, target_pid;
    /* for VIEW_WALL: fields of task_rename; the first is 0 where it has no pid (6.14) */
    int16_t renamed_pid, new_comm;
    bool wide_state; /* prev_state has 64 bits, otherwise 32 */

    struct nesting_fields nesting; /* nested.c */
};

#endif
