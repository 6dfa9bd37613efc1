/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The tally, which draining makes and reporting takes: stacks of addresses with a process, a name
 * and a number. It is independent of the kernel, of symbols and of formats.
 */
#ifndef STACKBOX_TALLY_TALLY_H
#define STACKBOX_TALLY_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"

#define COMM_BYTES 16 /* the kernel's TASK_COMM_LEN: 15 bytes and a NUL */

enum stack_state {
    STACK_NONE, /* not asked for, or there is none (a kernel thread's user stack) */
    STACK_KEPT, /* `count` addresses from `first`, leaf first */
    STACK_FULL, /* there was no room: the event is counted, its stack lost */
};

struct stack {
    enum stack_state state;
    uint32_t first, count; /* a slice of tally.addresses */
};

/* The waker, if it is not a thread but an interrupt. */
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

/* A thread and its stacks. */
struct tally_task {
    uint32_t pid;      /* 0 if processes are not told apart */
    uint32_t tid;      /* 0 if threads are not told apart */
    uint64_t generation;     /* which life of that pid: see insns/layout.h */
    enum interrupt interrupt; /* the actual waker: the name is that of the thread it interrupted */
    bool foreign;      /* the numbers are the host's: it is outside our pid namespace */
    char comm[COMM_BYTES + 1]; /* raw bytes from the kernel; "" if processes are not told apart */
    uint8_t unused[2];
    struct stack kernel, user;
};

/* Entries that are not ordinary stacks of events: waits that had not ended, for one. */
enum tally_mark {
    MARK_NONE,
    MARK_UNFINISHED, /* it began while tracing ran */
    MARK_ALL_ALONG,  /* it began before, and its thread never ran */
    MARK_TABLE_FULL, /* events of any task: there was no room to count them apart */
    MARK_RUNNING,    /* the parts of a thread's time */
    MARK_NOT_SAMPLED, /* running, but it is not known where */
    MARK_RUNNABLE,
    MARK_BLOCKED,
    MARKS,
};

struct tally_entry {
    uint64_t value;  /* of what is counted: events, or nanoseconds */
    uint64_t events; /* how many events */
    uint64_t longest; /* of a single event, if that is kept; otherwise 0 */
    /* The rest tells entries apart, and is compared as bytes: it has no padding. */
    uint64_t caller; /* for callers_complete() of store/store.h; then 0 */
    enum tally_mark mark;
    uint16_t flags; /* about `caller`: of a key (insns/layout.h) */
    bool has_waker;
    uint8_t unused;
    struct tally_task task;  /* whose event it is */
    struct tally_task waker; /* who ended the wait; without has_waker: unknown */
};

struct tally {
    struct tally_entry *entries;
    size_t count, room;
    struct index index; /* of the first entries: those that were counted or merged */
    uint64_t *addresses; /* of stacks, which are all different, each after their number */
    size_t address_count, address_room;
    struct index stacks;
    size_t most;   /* entries that tally_count() makes; 0: any number */
    uint64_t full; /* events for which there was none */
};

/* What came since the last look to where events are counted before they are in a tally. */
enum tally_news {
    NOTHING_NEW,
    HAS_NEWS,
    IS_FILLING, /* it should be collected soon */
};

/*
 * Adds an entry without stacks, even if there is an equal one; NULL without memory. The pointer is
 * valid until the next add.
 */
struct tally_entry *tally_add(struct tally *tally);
/*
 * Makes `stack` the slice with these addresses, leaf first, which are copied in if they are new.
 * 0 or -ENOMEM.
 */
int tally_add_stack(struct tally *tally, struct stack *stack, const uint64_t *addresses,
                    size_t count);
/*
 * Adds the numbers up in the entry that differs only in these, or adds that entry, whose stacks are
 * in the tally. If there are `most`, MARK_TABLE_FULL takes what is new. For a tally without entries
 * of tally_add(). 0 or -ENOMEM.
 */
int tally_count(struct tally *tally, const struct tally_entry *entry);
/* Counts what tally_add() has added since the last time. 0; or -ENOMEM, and entries are missing. */
int tally_merge(struct tally *tally);
/* Entries were changed: the next tally_merge() counts all of them anew. */
void tally_count_anew(struct tally *tally);
/*
 * Adds all entries of `from` as tally_add() does; it is empty then. 0; or -ENOMEM, and entries are
 * missing.
 */
int tally_move(struct tally *from, struct tally *to);
/* Frees what is only needed to add to it, until it is cleared. */
void tally_freeze(struct tally *tally);
/* Empties it but keeps its memory. */
void tally_clear(struct tally *tally);
void tally_free(struct tally *tally);

#endif
