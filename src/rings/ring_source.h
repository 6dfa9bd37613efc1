/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Shared by collectors that read rings: whose samples they are, and what is known about those
 * tasks.
 */
#ifndef STACKBOX_RINGS_RING_SOURCE_H
#define STACKBOX_RINGS_RING_SOURCE_H

#include <pthread.h>

#include "collect/collector.h"
#include "collect/scope.h"
#include "rings/ring_events.h"
#include "rings/ring_table.h"
#include "rings/ring_tasks.h"
#include "rings/ring_threads.h"
#include "rings/ring_unwind.h"

struct ring_wishes {
    struct scope *scope; /* the session's, open when the collector is opened */
    struct ring_unwind *unwind; /* likewise; how user stacks are walked */
    bool kernel, user;         /* stacks */
    bool raw;                  /* fields of events */
    bool few;                  /* events come from a clock */
    bool of_all;               /* others' events are needed, too, even for a command */
    bool uninherited;          /* not inherited by forks: a command's are found among all tasks' */
    bool without_idle;         /* the idle tasks' events do not count as asked for */
    bool per_process, per_thread;
    uint64_t bytes;            /* of all rings; 0: by free memory */
    uint64_t depth;            /* 0: the kernel's limit */
    uint64_t stacks;           /* distinct ones between two reports; 0: by free memory */
};

/* What is known about every event of that number. */
struct ring_place {
    uint32_t place;         /* its index among those asked for */
    uint32_t flags;         /* of a key (insns/layout.h) */
    uint16_t caller;        /* where the caller is among its fields, */
    uint16_t caller_bytes;  /* and how large; 0: it is not recorded */
    uint32_t thumb;         /* this bit of it says that it is Thumb code; or 0 */
    bool at_entry;          /* to a user function */
};

struct ring_source {
    struct ring_wishes wishes;
    struct rings rings;
    struct ring_tasks tasks;
    struct ring_place *places; /* by number */
    size_t place_count, place_room;
    uint32_t depth;
    uint64_t filtered, counted;
    uint64_t twice;     /* samples of threads whose event was opened twice */
    uint64_t settled;   /* records still to come are not older than this */
    struct ring_threads threads; /* whose events they are, unless they are everybody's */
    bool is_open;
    /* While it runs, a thread reads, whatever else is going on. */
    pthread_t reader;
    pthread_mutex_t lock;
    bool has_reader, ends;
    int bell;           /* wakes it up to end */
    int failure;        /* of the reader: a negative errno */
    ring_take_record *take;
    void *taking;
};

/*
 * As in collector_calls; `take` gets what is read, one record at a time. ring_source_close after
 * either.
 */
int ring_source_open(struct ring_source *source, ring_take_record *take, void *context, struct text *why);
void ring_source_close(struct ring_source *source);

/* Adds an event, before the source starts. 0 or a negative errno. */
int ring_source_add(struct ring_source *source, const struct rings_event *event, const struct ring_place *place);
/* Closes all events, when there is nothing left to read. */
void ring_source_detach(struct ring_source *source);
/* Why that was refused, and what to do about it. */
void ring_source_explain(const struct ring_source *source, int error, struct text *sentence);

/* Samples come from now on. 0 or a negative errno. */
int ring_source_start(struct ring_source *source);
/*
 * A separate thread reads from now on, so that nothing piles up: to be called once all rights to be
 * given up are.
 */
int ring_source_begin_reading(struct ring_source *source);

/*
 * Reads what there is up to now, and, if `for_good`, stops and reads everything, with what was
 * lost. The caller holds the lock. 0 or a negative errno.
 */
int ring_source_read(struct ring_source *source, bool for_good);
/* The same, but only records that nothing can precede any more. */
int ring_source_read_settled(struct ring_source *source);

/* Is the sample one that was asked for? It tells of its thread and process, too. */
bool ring_source_wants(struct ring_source *source, const struct ring_sample *sample);
/* The party under which a sample is counted, with its stacks, valid until the next. */
void ring_source_party(struct ring_source *source, const struct ring_record *record, uint32_t number,
                       struct ring_party *party);

/* The caller holds the lock if another thread reads: only between two records do its figures add up. */
void ring_source_account(const struct ring_source *source, struct collector_account *account);
void ring_source_add_losses(const struct ring_source *source, struct missing *missing);
void ring_source_describe(const struct ring_source *source, struct text *lines);

#endif
