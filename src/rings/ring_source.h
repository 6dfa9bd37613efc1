/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What collectors that read rings share: whose samples they are, and what is known of who that was. */
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
    const struct scope *scope; /* the session's, which is open when the collector is opened */
    struct ring_unwind *unwind; /* likewise; how stacks of users are walked */
    bool kernel, user;         /* stacks */
    bool raw;                  /* fields of events */
    bool few;                  /* events come by a clock */
    bool of_all;               /* also of a command's events those of others are needed */
    bool uninherited;          /* who forks cannot pass events on: a command's are found among those of all */
    bool without_idle;         /* events of the idle tasks are none that were asked for */
    bool per_process, per_thread;
    uint64_t bytes;            /* of all rings; 0: by the memory that is there */
    uint64_t depth;            /* 0: the kernel's limit */
    uint64_t stacks;           /* that are told apart between two reports; 0: by the memory that is there */
};

/* What is known of each event of that number. */
struct ring_place {
    uint32_t place;         /* its number among those that were asked for */
    uint32_t flags;         /* of a key (insns/layout.h) */
    uint16_t caller;        /* where among its fields the caller is, */
    uint16_t caller_bytes;  /* of so many; 0: it is not told */
    bool at_entry;          /* of a user's function */
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
    uint64_t settled;   /* nothing comes any more that is from before this */
    struct ring_threads threads; /* whose events they are, where they are not of all */
    bool is_open;
    /* Once it runs a thread reads, whatever else there is to do. */
    pthread_t reader;
    pthread_mutex_t lock;
    bool has_reader, ends;
    int bell;           /* by which it is woken to end */
    int failure;        /* of the reader: a negative errno */
    ring_take_record *take;
    void *taking;
};

/* As collector_calls has it; `take` gets what is read, one at a time. ring_source_close after either. */
int ring_source_open(struct ring_source *source, ring_take_record *take, void *context, struct text *why);
void ring_source_close(struct ring_source *source);

/* An event, attached before it starts. 0 or a negative errno. */
int ring_source_add(struct ring_source *source, const struct rings_event *event, const struct ring_place *place);
/* All events again, when there is nothing to read any more. */
void ring_source_detach(struct ring_source *source);
/* Why that was refused, and what to do about it. */
void ring_source_explain(const struct ring_source *source, int error, struct text *sentence);

/* Samples come from here on. 0 or a negative errno. */
int ring_source_start(struct ring_source *source);
/* A thread of its own reads from now on, so that nothing piles up: to be called when no rights are given up any more. */
int ring_source_begin_reading(struct ring_source *source);

/*
 * Reads what there is up to now, and, where that is `for_good`, ends and reads all, with what was lost. The
 * lock is held by the caller. 0 or a negative errno.
 */
int ring_source_read(struct ring_source *source, bool for_good);
/* The same, of what can be preceded by nothing any more. */
int ring_source_read_settled(struct ring_source *source);

/* Is it one that was asked for? With it the thread, and its process. */
bool ring_source_wants(struct ring_source *source, const struct ring_sample *sample);
/* By whom a sample is counted, with its stacks, which are good until the next. */
void ring_source_party(struct ring_source *source, const struct ring_record *record, uint32_t number,
                       struct ring_party *party);

void ring_source_account(const struct ring_source *source, struct collector_account *account);
void ring_source_add_losses(const struct ring_source *source, struct missing *missing);
void ring_source_describe(const struct ring_source *source, struct text *lines);

#endif
