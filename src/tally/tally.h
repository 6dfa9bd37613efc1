/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tally: the one value in the middle of the road. Whatever drains makes it, whatever reports
 * takes it. Stacks of addresses with a process, a name and a number; no kernel, no names, no format.
 */
#ifndef STACKBOX_TALLY_TALLY_H
#define STACKBOX_TALLY_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMM_BYTES 16 /* the kernel's TASK_COMM_LEN: 15 bytes and a NUL */

enum stack_state {
    STACK_NONE, /* not asked for, or the context has none (a kernel thread's user stack) */
    STACK_KEPT, /* `count` addresses from `first`, leaf first */
    STACK_FULL, /* there was no room for it: the event is counted, the stack lost */
};

struct stack {
    enum stack_state state;
    uint32_t first, count; /* a slice of tally.addresses */
};

/* Who wakes when it is no thread: what interrupts whichever thread there is. */
enum interrupt {
    INTERRUPT_NONE,
    INTERRUPT_OTHER,
    INTERRUPT_TIMER,
    INTERRUPT_NETWORK,
    INTERRUPT_DISK,
    INTERRUPT_RCU,
    INTERRUPT_CPU, /* another CPU's */
    INTERRUPTS,
};

/* A thread with the stacks that it had. */
struct tally_party {
    uint32_t pid;      /* 0 where processes are not told apart */
    uint32_t tid;      /* 0 where threads are not told apart */
    uint64_t born;     /* which life of that pid: see insns/layout.h */
    enum interrupt interrupt; /* who it really was: the name is of the thread that it interrupted */
    bool foreign;      /* the numbers are the host's: it is outside the caller's pid namespace */
    char comm[COMM_BYTES + 1]; /* raw bytes of the kernel; "" where processes are not told apart */
    struct stack kernel, user;
};

/* What makes an entry another one than the stacks of events: of a wait that had not ended, for one. */
enum tally_mark {
    MARK_NONE,
    MARK_UNFINISHED, /* it began while tracing ran */
    MARK_ALL_ALONG,  /* it began before, and its thread never ran */
    MARK_TABLE_FULL, /* events of whomever: there was no room to count them apart */
    MARK_RUNNING,    /* the parts of all of a thread's time */
    MARK_NOT_SAMPLED, /* running, nobody knows where */
    MARK_RUNNABLE,
    MARK_BLOCKED,
    MARKS,
};

struct tally_entry {
    uint64_t value;  /* of whatever is counted: events, or nanoseconds */
    uint64_t events; /* how many they were */
    uint64_t longest; /* of one of them, where that is kept; else 0 */
    enum tally_mark mark;
    bool has_waker;
    struct tally_party task;  /* whose event it is */
    struct tally_party waker; /* who ended the wait; without has_waker: nobody was seen to */
};

struct tally {
    struct tally_entry *entries;
    size_t count, room;
    uint64_t *addresses;
    size_t address_count, address_room;
};

/*
 * Adds an entry with no stacks yet; NULL when memory is out. The pointer holds until the next add.
 */
struct tally_entry *tally_add(struct tally *tally);
/* Copies a stack's addresses in, leaf first, and makes `stack` their slice. 0 or -ENOMEM. */
int tally_add_stack(struct tally *tally, struct stack *stack, const uint64_t *addresses, size_t count);
/*
 * Makes one entry of those that differ in nothing but their numbers, which are added up. 0, or -ENOMEM
 * with the tally left as it was.
 */
int tally_merge(struct tally *tally);
/* Empties it and keeps its memory. */
void tally_clear(struct tally *tally);
void tally_free(struct tally *tally);

#endif
