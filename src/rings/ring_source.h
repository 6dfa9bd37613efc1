/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What collectors that read rings share: unwinding samples and finding their tasks, counting them,
 * and events for places.
 */
#ifndef STACKBOX_RINGS_RING_SOURCE_H
#define STACKBOX_RINGS_RING_SOURCE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/attach.h"
#include "collect/collector.h"
#include "collect/scope.h"
#include "insns/filter.h"
#include "insns/unwind.h"
#include "rings/records.h"
#include "rings/rings.h"
#include "tally/tally.h"
#include "unwind/deferred.h"

/* The threads that a filter names, as /proc lists them now: for events opened per thread. */

struct ring_threads {
    uint32_t *tids; /* the caller frees it */
    size_t count, room;
};

/* Adds one. 0 or -ENOMEM. */
int ring_threads_add(struct ring_threads *threads, uint32_t tid);
/* 0; -ESRCH: none is left; or -ENOMEM. */
int ring_threads_list(struct ring_threads *threads, const struct event_filter *filter);

/*
 * What samples lack about their tasks: the name, the generation (which life of the pid, with which
 * program), and whether the user asked for the task or it descends from the command. The source is
 * /proc at first, and from then on the rings' task records, in time order.
 */

/* Indexed by tid. What belongs to a process is kept at its pid, the tid of its first thread. */
struct ring_task_state {
    char comm[COMM_BYTES];
    uint64_t generation;    /* as in insns/layout.h: of a process */
    uint32_t pid;     /* 0: nothing is known about that thread */
    uint32_t threads; /* of a process */
    uint64_t event;   /* the event that samples it; 0: none yet */
    /* the real user + 1, as of the round in which it was last asked for; 0: unknown */
    uint32_t user;
    uint32_t user_round;
    uint8_t asked;    /* enum asked_for */
    bool followed;
};

struct ring_tasks {
    struct ring_task_state *tasks;
    size_t count; /* entries: one for each possible tid */
    uint32_t held; /* the held command's pid: followed from its exec on; 0: none */
    uint32_t round; /* of reading, from 1 */
    struct scope *scope; /* which processes and threads are asked for */
    bool follows; /* these processes' children are followed */
    bool of_command; /* task records are the command's: other tasks may reuse its tids unseen */
};

/* `scope` stays the caller's. 0 or a negative errno; ring_tasks_close after either. */
int ring_tasks_open(struct ring_tasks *tasks, struct scope *scope);
void ring_tasks_close(struct ring_tasks *tasks);

/* Takes what /proc has about all threads. */
void ring_tasks_look(struct ring_tasks *tasks);

/* The thread of a sample: never NULL. An unknown one is looked up. */
struct ring_task_state *ring_tasks_of(struct ring_tasks *tasks, uint32_t pid, uint32_t tid);
/* Does the thread descend from the command, or from a process whose children are followed? */
bool ring_tasks_follow(struct ring_tasks *tasks, uint32_t pid, uint32_t tid);
/* The entry of a process. */
struct ring_task_state *ring_tasks_process(struct ring_tasks *tasks, uint32_t pid);

/* Begins a round of reading, in which /proc is asked again for each thread's user. */
void ring_tasks_begin_round(struct ring_tasks *tasks);
/* Does the filter take the thread and its process? */
bool ring_tasks_want(struct ring_tasks *tasks, uint32_t pid, uint32_t tid);

/* Notes an event of the process at `time`: the first one after a fork or exec dates its life. */
void ring_tasks_see(struct ring_tasks *tasks, uint32_t pid, uint64_t time);
/* Applies a task record of `time`. */
void ring_tasks_take(struct ring_tasks *tasks, const struct ring_task *task, uint64_t time);

struct ring_stack {
    const uint64_t *frames; /* leaf first */
    size_t count;
};

/* A thread with its stacks, as counted: the stacks in `who` are unused. */
struct counted_task {
    struct tally_task who;
    struct ring_stack kernel, user;
    uint64_t caller; /* at a function's first instruction: the return address; else 0 */
    uint64_t flags;  /* of a key (insns/layout.h): how to take `caller` */
};

struct ring_key {
    struct counted_task task;
    const struct counted_task *waker; /* or NULL */
    enum tally_mark mark;
};

/* Makes an entry, of an event with that value, whose stacks are in the tally. 0 or -ENOMEM. */
int ring_entry(struct tally *tally, const struct ring_key *key, uint64_t value,
               struct tally_entry *entry);
/* Counts it. 0 or -ENOMEM. */
int ring_count(struct tally *tally, const struct ring_key *key, uint64_t value);

/*
 * Walks user stacks in user space by unwind tables, as programs do in the kernel (insns/unwind.c),
 * from the registers and the copy of the stack in a sample. The session owns it and fills it in.
 */
struct ring_unwind {
    const struct machine *machine; /* of samples to be walked here; NULL: none */
    uint32_t stack_bytes;          /* of the stack in each sample: set when rings are opened */
    struct deferred *deferred;             /* NULL: the kernel's walks by frame pointers must do */
    struct deferred_objects *objects;
    bool first_alone;              /* only first frames are needed */
    uint64_t *frames;              /* room for one sample's stack: 2, or `depth` */
    struct unwind_counts counts;
};

/*
 * Sets what the kernel is to put into samples. `few`: they come from a clock, so that each may have
 * a larger copy of the stack.
 */
void ring_unwind_ask(struct ring_unwind *unwind, bool few, struct rings_config *config);

/* Before samples are walked: has the next walk find out first what processes have mapped by now. */
void ring_unwind_settle(struct ring_unwind *unwind);

/*
 * Walks the stack of a sample of `time`; `at_entry`: at a function's first instruction. False, with
 * `stack` unchanged: the kernel's walk must do. Otherwise `stack` is valid until the next walk.
 */
bool ring_unwind_walk(struct ring_unwind *unwind, const struct ring_sample *sample, uint64_t time,
                      bool at_entry, struct ring_stack *stack);

/* The same from state->registers, with state->kept bytes of the stack. Needs unwind->deferred. */
bool ring_unwind_walk_from(struct ring_unwind *unwind, struct unwind_state *state,
                           const void *bytes, struct ring_stack *stack);

struct ring_options {
    struct scope *scope;        /* the run's, open when the collector is opened */
    struct ring_unwind *unwind; /* likewise; how user stacks are walked */
    struct capture capture;     /* what is collected; depth 0: the kernel's limit */
    bool raw;                   /* fields of events are needed */
    bool few;                   /* events come from a clock */
    bool of_all;                /* events of all tasks are needed, even for a command */
    bool uninherited;           /* by forks: a command's events are picked from all tasks' */
    uint64_t bytes;             /* of all rings; 0: by free memory */
    uint64_t stacks;            /* distinct ones between two reports; 0: by free memory */
};

/* What is known about every event of that number. */
struct ring_place {
    uint32_t place;         /* its index among those asked for */
    uint32_t flags;         /* of a key (insns/layout.h) */
    uint16_t caller;        /* offset of the return address in the raw fields, */
    uint16_t caller_bytes;  /* and its size; 0: it is not recorded */
    uint32_t thumb;         /* the bit of the return address that marks Thumb code; or 0 */
    bool at_entry;          /* at the first instruction of a user function */
};

/* Part of a collector, and its first member. */
struct ring_source {
    struct collector collector;
    struct ring_options options;
    struct rings rings;
    struct ring_tasks tasks;
    struct ring_place *places; /* by number */
    size_t place_count, place_room;
    uint32_t depth;
    uint64_t filtered, counted;
    uint64_t twice;     /* samples of threads whose event was opened twice */
    uint64_t settled;   /* records still to come are not older than this */
    struct ring_threads threads; /* the events are of these; empty: of all tasks */
    bool is_open;
    /* While it runs, a thread of its own reads the rings. */
    pthread_t reader;
    pthread_mutex_t lock;
    bool has_reader, ends;
    int bell;           /* an eventfd that wakes the reader thread to end it */
    int failure;        /* of the reader: a negative errno */
    ring_take_record *take;
    void *taking;
};

/* As in collector_calls; `take` gets each record that is read. ring_source_close after either. */
int ring_source_open(struct ring_source *source, ring_take_record *take, void *context,
                     struct text *why);
void ring_source_close(struct ring_source *source);

/* Adds an event, before the source starts. 0 or a negative errno. */
int ring_source_add(struct ring_source *source, const struct rings_event *event,
                    const struct ring_place *place);
/* Why that was refused, and what to do about it. */
void ring_source_explain(const struct ring_source *source, int error, struct text *sentence);

/* Samples come from now on. 0 or a negative errno. */
int ring_source_start(struct collector *collector);
/*
 * Starts the reader thread, so that the rings do not fill up; if there can be none, reads now. To
 * be called after capabilities were dropped.
 */
int ring_source_settle(struct collector *collector);

/*
 * Reads all records up to now; if `for_good`, stops all events first, and takes account of losses.
 * The caller holds the lock. 0 or a negative errno.
 */
int ring_source_read(struct ring_source *source, bool for_good);
/* The same, but leaves records that an earlier one of another CPU may still precede. */
int ring_source_read_settled(struct ring_source *source);

/* Did the user ask for this sample, with its CPU, thread and process? */
bool ring_source_wants(struct ring_source *source, const struct ring_sample *sample);
/* Fills in the task under which a sample is counted; its stacks are valid until the next call. */
void ring_source_task(struct ring_source *source, const struct ring_record *record,
                      uint32_t number, struct counted_task *task);

/* The caller holds the lock, as the figures add up between two records only. */
void ring_source_add_up(const struct ring_source *source, struct collector_account *account);
/* As in collector_calls. */
void ring_source_account(struct collector *collector, struct collector_account *account);
void ring_source_add_losses(const struct collector *collector, struct losses *losses);
void ring_source_describe(const struct collector *collector, bool again, struct text *lines);

/*
 * attach_request.instead, for a struct ring_source. Makes events in rings from places: tracepoints
 * by id, probes as text in tracefs or, without it, through the PMUs.
 */
extern const struct attach_instead ring_attach;

#endif
