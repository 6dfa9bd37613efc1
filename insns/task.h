/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The context of raw tracepoints is an array of words, some of which are tasks. Programs read a
 * task's fields from the kernel's memory, if their offsets are known. Linux 5.5.
 */
#ifndef STACKBOX_INSNS_TASK_H
#define STACKBOX_INSNS_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "insns/program.h"

/* Offsets of fields in struct task_struct, in bytes. */
struct task_fields {
    bool known;
    uint16_t pid;
    bool has_state; /* programs read the state here: sched_switch does not pass it before 5.18 */
    bool wide_state; /* 64 bits, otherwise 32 */
    uint16_t state;
    /* How many threads the task's process has left: in another struct, which it points to. */
    bool has_live; /* independent of `known` */
    uint8_t pointer_bytes;
    uint16_t signal, live;
};

/*
 * *(r10 + place) = `bytes` at `offset` of the task in that word of the context r6, or zeros if that
 * cannot be read. r0 to r5 are lost.
 */
void emit_read_task(struct program *program, int word, uint16_t offset, int bytes, int16_t place);

/*
 * *(u64 *)(r10 + place) = the state in which the task of sched_switch's context r6 leaves, as in
 * the tracepoint's field prev_state, by enum task_state_bits; 0 also if it was preempted. r0 to r5
 * are lost.
 */
void emit_read_state(struct program *program, const struct task_fields *fields, int16_t place);

/*
 * Where a task has its numbers in the caller's pid namespace, if it is in that or in one below it:
 * bytes in task_struct, signal_struct, struct pid and struct pid_namespace.
 */
struct pid_fields {
    uint16_t task_pid, task_signal;  /* pointers: to the thread's struct pid; to signal_struct, */
    uint16_t signal_pid;             /* which has one to the process's */
    uint16_t pid_level;              /* how deep its namespace is */
    uint16_t pid_number, pid_space;  /* for the caller's: the number, a pointer to the namespace */
    uint16_t space_inode;
    uint32_t level, inode;           /* of the caller's namespace */
};

/*
 * r7 = pid << 32 | tid of the current task in the caller's pid namespace; goes to `outside` if it
 * has none there. Uses 8 bytes at r10 + place. r0 to r5 are lost.
 */
void emit_load_numbers(struct program *program, const struct pid_fields *fields, int16_t place,
                       const char *outside);
/* r7 = the level of the current task's namespace. */
void emit_load_level(struct program *program, const struct pid_fields *fields, int16_t place,
                     const char *failed);
/* The same for the number of a task: r7 = the tid of the one at r7. */
void emit_load_number(struct program *program, const struct pid_fields *fields, int16_t place,
                      const char *outside);

/*
 * Where the kernel counts how many functions' returns it traces in a task at the moment: bytes in
 * task_struct and uprobe_task.
 */
struct nesting_fields {
    uint16_t utask, depth;
};

/* r0 = that count; goes to `none` if it is 0. Uses 8 bytes at r10 + place. r1 to r5 are lost. */
void emit_load_nesting(struct program *program, const struct nesting_fields *fields, int16_t place,
                       const char *none);

/* Words of the contexts. */
enum {
    SWITCH_PREEMPTED,
    SWITCH_PREV,
    SWITCH_NEXT,
    SWITCH_STATE, /* 5.18 */
    EXIT_TASK = 0,
    WAKING_TASK = 0,
    NEWTASK_TASK = 0,
    EXEC_OLD_TID = 1,
    RENAME_TASK = 0,
    RENAME_COMM, /* the new one */
};

#endif
