/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The threads that are traced, and what /proc says about them. */
#ifndef STACKBOX_PTRACE_TRACEES_H
#define STACKBOX_PTRACE_TRACEES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptrace/breakpoints.h"
#include "tally/tally.h"

/* A system call in which a thread is blocked. */
struct tracee_call {
    long number; /* -1: it is in no call, but at a page fault */
    uint64_t args[4]; /* its first ones */
    uint64_t sp, pc;
};

#define NO_CALL (UINT64_MAX >> 1)

/* What a thread does with its time. */
enum tracee_part {
    TRACEE_RUNNING,
    TRACEE_RUNNABLE,
    TRACEE_BLOCKED,
    TRACEE_PARTS,
};

/* Files in /proc/PID/task/TID that are read often. */
enum tracee_file {
    TRACEE_SCHEDSTAT,
    TRACEE_STAT,
    TRACEE_STATM,
    TRACEE_FILES,
};
#define TRACEE_KERNEL_FRAMES 64 /* the kernel's MAX_STACK_TRACE_DEPTH */

struct tracee {
    uint32_t tid, pid;
    bool counts;       /* the command's: only once it has executed its program */
    bool is_asked;     /* it was interrupted, and will stop for a sample */
    bool is_left;      /* it was not asked for: the tracer lets go of it when it stops */
    bool has_begun;    /* it has made its first stop, before which it runs nothing */
    bool is_sampled;   /* once, at least */
    uint8_t idle;      /* ticks in a row without CPU time, the first few */
    bool keeps_files;  /* open, once they are read: */
    int files[TRACEE_FILES]; /* or below 0 */
    uint64_t cpu;      /* CPU time at the last look, ns */
    uint64_t slices;   /* how often it had been given a CPU by then; 0: unknown */
    int64_t owed;      /* CPU time that no sample stands for yet, ns; below 0: samples exceed it */
    uint64_t delay;    /* ns for which it had waited for a CPU by then */
    /* For collectors of times. */
    uint64_t since;    /* when it was last looked at; 0: not yet */
    int64_t spent[TRACEE_PARTS]; /* ns that are not counted yet */
    struct tracee_call call; /* in which it was interrupted; pc 0: it was not blocked */
    struct {
        uint64_t slices; /* tracee->slices in the known wait; 0: none is known */
        uint64_t asked;  /* the same in the last wait that was interrupted */
        bool was_interrupted;
        uint64_t *frames;
        size_t count;
    } wait;
    uint16_t kernel[TRACEE_KERNEL_FRAMES]; /* where it is blocked: numbers of texts, leaf first */
    size_t kernel_count;
    /* For collectors of breakpoints. */
    struct {
        uint64_t addresses[BREAKPOINTS_MOST]; /* by place; 0: not mapped there */
        uint64_t shape;  /* of its memory when these were looked for; 0: not yet */
        bool are_set;    /* its debug registers have them */
        bool calls_stop; /* it stops at each system call: one may map a place, or be one */
        uint64_t call;   /* the number of the call that it is in; or NO_CALL */
        bool steps;      /* it steps over an instruction whose breakpoint is cleared meanwhile */
        uint64_t pc, sp; /* where it last hit a breakpoint: that is counted already */
        struct tracee_return {
            uint64_t pc, sp; /* the return address, and the stack pointer there */
            size_t point;    /* index of the function's place */
        } *returns;      /* of calls that have not returned yet, the innermost last */
        size_t depth, room;
    } points;
    uint64_t shape;    /* of its memory, when its mappings were last read, */
    uint64_t looked;   /* and when; 0: not yet */
    uint64_t in_vain;  /* when a look at the mappings last left a return address unmapped */
    char comm[COMM_BYTES];
};

struct tracees {
    struct tracee *items; /* in no order: pointers are valid until one is added or dropped */
    size_t count, room;
    uint32_t *slots;      /* by tid: the index + 1, or 0 */
    uint32_t limit;       /* of tids */
};

/* 0 or a negative errno; tracees_close after either. */
int tracees_open(struct tracees *tracees);
void tracees_close(struct tracees *tracees);

/* NULL: it is not traced. */
struct tracee *tracees_find(const struct tracees *tracees, uint32_t tid);
/* One that is not there yet. NULL: out of memory. */
struct tracee *tracees_add(struct tracees *tracees, uint32_t tid, uint32_t pid);
void tracees_drop(struct tracees *tracees, uint32_t tid);

/* The process of a thread, and its parent. 0: it is gone. */
uint32_t tracee_process(uint32_t tid, uint32_t *parent);

/* CPU time since it began, in ns; by the scheduler, or, without CONFIG_SCHED_INFO, by its clock. */
uint64_t tracee_cpu(struct tracee *tracee);

/* Its state's letter, or 0, the CPU it ran on last, and its name, for tracee->comm. */
char tracee_state(struct tracee *tracee, unsigned *cpu);

/*
 * The system call in which it is blocked, and where. 0, -EAGAIN: it runs; or another negative
 * errno.
 */
int tracee_call(const struct tracee *tracee, struct tracee_call *call);
/*
 * Where in the kernel it is blocked, as in /proc/TID/stack. Without CAP_SYS_ADMIN, which reading
 * that takes: the function that /proc/TID/wchan names, and sys_NAME of its system call.
 */
void tracee_kernel_stack(const struct tracee *tracee, char *text, size_t room);
/*
 * Does the call go on after an interruption, so that the program cannot tell? Other calls may fail
 * with EINTR, or end with a part of what was asked for (signal(7)).
 */
bool tracee_call_restarts(const struct tracee *tracee, const struct tracee_call *call);

/*
 * A number that changes when code is mapped or unmapped: the size of memory that is not data. 0: it
 * cannot be read.
 */
uint64_t tracee_shape(struct tracee *tracee);

#endif
