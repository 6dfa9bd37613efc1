/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which threads wait, since when and in which stacks; drains waits and wall time to a tally. */
#ifndef STACKBOX_STORE_WAITS_H
#define STACKBOX_STORE_WAITS_H

#include "insns/layout.h"
#include "insns/programs.h"
#include "store/blocked_threads.h"
#include "store/store.h"
#include "tally/tally.h"

/*
 * Stacks by the words that identify them (insns/layout.h), kept longer than the bank they were
 * found in: a thread that blocked in one report may run again in a later one.
 */

struct kept_stack;

struct stack_table {
    struct kept_stack **places; /* hashed by word; open addressing */
    size_t size, count;
    uint32_t round; /* number of the report */
};

/* {0} is an empty table. */
void stack_table_free(struct stack_table *table);

/* Begins another report. */
void stack_table_begin(struct stack_table *table);

/* Adds a stack, unless it is there. 0 or -ENOMEM. */
int stack_table_add(struct stack_table *table, int64_t word, const struct spilled_stack *stack,
                    uint32_t depth);

/* Notes that the word is still in use. */
void stack_table_keep(struct stack_table *table, int64_t word);

/*
 * Drops what was neither added nor kept in this report or the last one: the count of a wait that
 * has just ended may come with the next.
 */
void stack_table_drop(struct stack_table *table);

/*
 * Adds the word's stack to the tally, once per report. STACK_NONE: there was none, STACK_FULL:
 * there was no room for it. 0 or -ENOMEM.
 */
int stack_table_find(struct stack_table *table, int64_t word, struct tally *tally,
                     struct stack *stack);

/*
 * Which threads wait, and since when: the map that the programs of insns/offwake.c maintain, and
 * how their counts get into a tally, with stacks that were taken some reports ago.
 */

struct waits {
    struct store *store; /* without ids; keys of offwake_key_bytes, values of struct blocked */
    enum offwake_view view;
    uint64_t least, most; /* ns; applied to unfinished waits, too */
    bool unfinished;      /* such waits go into the last report */
    int map;              /* below 0: none */
    int rests;            /* of VIEW_WALL: entries as a report has to take them (insns/wait.h) */
    uint32_t entries;
    bool for_all;         /* one for each thread that the machine may have */
    struct stack_table stacks;
    /* After the last report: who was still waiting, */
    uint64_t open;            /* how many in all: what the store's account lacks */
    uint64_t waiting, waited; /* how many within the limits, and the sum of these, ns */
    /* and the tids of all that were seen to block, in our pid namespace, sorted. */
    uint64_t *seen;
    size_t seen_count, seen_room;
};

/*
 * Creates the map in `waits`, whose fields down to `unfinished` are filled in. 0 or a negative
 * errno; waits_close after either.
 */
int waits_open(struct waits *waits);
void waits_close(struct waits *waits);

/* The sizes of the map's keys, and of its values: what programs know about a wait. */
uint32_t waits_key_bytes(const struct waits *waits);
uint32_t waits_value_bytes(const struct waits *waits);

/* Roughly the kernel memory that it takes, with that of `rests`. */
uint64_t waits_bytes(const struct waits *waits);

/* Was the thread seen to block while tracing ran? After the last report. */
bool waits_has_seen(const struct waits *waits, uint32_t tid);

/* What is drained, and where to. */
struct waits_taking {
    struct waits *waits;
    struct tally *tally;
    struct drain_losses *losses;
    uint64_t now; /* of the report */
};

/* Takes over a task with its stacks, which so many events have. 0 or -ENOMEM. */
int waits_take_task(const struct waits_taking *taking, const struct task_stacks *task,
                    uint64_t events, struct tally_task *to);
/*
 * Takes a bank's stacks, and then its counts by `take`: the counts of one bank may refer to stacks
 * of both. What `context` points to begins with a struct waits_taking. 0 or a negative errno.
 */
int waits_take_bank(void *context, struct bank *bank, bpf_take *take);
/* Notes that this thread was seen. 0 or -ENOMEM. */
int waits_note_seen(struct waits *waits, uint32_t tid);

/* As drain_counts. The last time (without `again`) unfinished waits are included. */
int drain_waits(struct waits *waits, bool again, struct tally *tally, struct drain_losses *losses);

/*
 * Drains all of threads' time to a tally, from the maps that insns/wall.c writes. A report has the
 * counts since the last one, and the time before its cut that is still in threads' entries.
 */

/* {0} at first. */
struct wall_report {
    /*
     * A thread that had events but has not left its CPU yet has no known process. At the end, the
     * report looks for it among those listed before, and then in /proc. NULL: nowhere.
     */
    const struct blocked_filter *unplaced;
    const struct blocked_thread *listed;
    size_t listed_count;
    uint64_t began, ended; /* of the last report */
};

/* As drain_counts. Threads without any event are in no report: see waits_has_seen(). */
int drain_wall(struct wall_report *report, struct waits *waits, bool again, struct tally *tally,
               struct drain_losses *losses);

#endif
