/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What process.c, process_names.c and jitmap.c share. */
#ifndef STACKBOX_PROCESSES_PROCESS_PARTS_H
#define STACKBOX_PROCESSES_PROCESS_PARTS_H

#include <pthread.h>

#include "base/text.h"
#include "kernel/task_events.h"
#include "processes/image.h"
#include "processes/process.h"

/*
 * The lives of processes by pid, and the programs that each ran in turn, in the order of the
 * reports. This part looks nothing up.
 */

/* Programs that a process left by exec, per process; the oldest are forgotten. */
#define HISTORY_PROGRAMS 64

/* Replaced mappings per program; the oldest are forgotten. */
#define REPLACED_MOST 1024

/*
 * Mappings of a program that others replaced: a library that was unloaded, and another one at its
 * address. The kernel does not report unmapping: a mapping lasts until another replaces it.
 */
struct replaced {
    struct mapping mapping;
    uint64_t until; /* CLOCK_MONOTONIC, ns */
};

struct replaced_list {
    struct replaced *items; /* by time; each holds a reference of its file */
    size_t count, room;
    uint32_t forgotten; /* before the first */
};

enum program_origin {
    PROGRAM_INHERITED, /* by a fork */
    PROGRAM_SEEN,      /* in /proc, at life->seen */
    PROGRAM_EXECUTED,
};

struct program {
    struct program *older;
    char name[16]; /* its process's name, as last reported or seen; "": unknown */
    bool name_guessed; /* from a thread that forked it and whose name no report tells */
    uint64_t since; /* 0: since before we looked */
    enum program_origin origin;
    struct image *image;
    struct replaced_list replaced; /* earlier mappings that were replaced */
};

/* Who owned a JIT's memory, read while /proc showed it. */
struct owner {
    uint32_t users[2];        /* real and effective */
    uint32_t namespace_pid;   /* in its own pid namespace */
    struct mapped_root *root; /* NULL: unknown */
    uint64_t start;           /* when the process began, in ns as file times; 0: unknown */
    uint64_t since;
};

/* All times are CLOCK_MONOTONIC, in ns. */
struct life {
    struct life *next;          /* in its bucket: newer ones first */
    struct life *later;         /* that ended */
    struct program *programs;   /* newest first; at least one */
    size_t program_count;
    struct owner *owner;        /* NULL: unknown */
    uint32_t pid, parent;
    uint32_t threads;           /* 0: unknown */
    bool ended;
    uint64_t forked, ended_at;  /* forked 0: before we looked */
    uint64_t first_thread_ended; /* when; 0: it has not. Other threads may go on */
    uint64_t seen, seen_until;  /* the look at /proc, which shows everything before it */
};

struct history {
    struct mapped_files *files; /* the caller's */
    processes_mapped *mapped;   /* the watcher, NULL: none; and its context */
    void *watching;
    size_t most_bytes;          /* of what is kept of the past */
    struct life **buckets;
    size_t bucket_count, count;
    struct life *first_ended, *last_ended;
    size_t past_bytes;
    uint64_t forgotten; /* ended lives and replaced programs, for lack of room */
    bool ends_forgotten; /* set by the caller; see processes_ends_forgotten() */
};

int history_open(struct history *history, struct mapped_files *files, size_t most_bytes);
void history_close(struct history *history);

/* Reports everything that is mapped, and from then on what comes. */
void history_watch(struct history *history, processes_mapped *mapped, void *context);

/* The newest life of a pid, or NULL. */
struct life *history_newest(const struct history *history, uint32_t pid);
/* The same if it has not ended. */
struct life *history_living(const struct history *history, uint32_t pid);

/*
 * Begins a new life of a pid, with `image`, whose reference it takes: an earlier life has then
 * ended. NULL: out of memory.
 */
struct life *history_begin(struct history *history, uint32_t pid, uint64_t time,
                           enum program_origin origin, struct image *image);
/* The life goes on with another program; takes the reference of `image`. 0 or -ENOMEM. */
int history_exec(struct history *history, struct life *life, uint64_t time, struct image *image);
/* Replaces the newest program's image by `image`, as /proc shows it; takes the reference. */
void history_see(struct history *history, struct life *life, struct image *image);
/* As image_add(), to the newest program, from `time` on. */
int history_map(struct history *history, struct life *life, const struct mapping *mapping,
                uint64_t time);
void history_end(struct history *history, struct life *life, uint64_t time);

/*
 * Forgets lives that ended and programs that were left before `time`, and mappings replaced before
 * `replaced`.
 */
void history_forget(struct history *history, uint64_t time, uint64_t replaced);

/*
 * The program that `generation` stands for (see process.h), and its life; execs and exits have been
 * counted since `begin`. NULL: unknown.
 */
struct program *history_find(const struct history *history, uint32_t pid, uint64_t generation,
                             uint64_t begin, struct life **of);

/* The same for an event of which only the time is known. */
struct program *history_find_at(const struct history *history, uint32_t pid, uint64_t time,
                                struct life **of);

/* And its `generation`. */
uint64_t history_generation_at(const struct history *history, uint32_t pid, uint64_t time,
                         uint64_t begin);

/* Once exits were forgotten: may a `generation` of 0 be that of a later life than the one found? */
bool history_is_in_doubt(const struct history *history, uint32_t pid, uint64_t generation,
                         uint64_t begin);

/* A number for the time between two replacements in one program: never 0. */
uint32_t replaced_epoch(const struct replaced_list *list, uint64_t time);

/* What was mapped at the address in that epoch; NULL: what is mapped there now. */
const struct mapping *replaced_find(const struct replaced_list *list, uint32_t epoch,
                                    uint64_t address);

/*
 * From item *at on: the next mapping that held the address and was replaced at `since` or later.
 * NULL: there are no more.
 */
const struct mapping *replaced_next(const struct replaced_list *list, uint64_t address,
                                    uint64_t since, size_t *at);

/* Is the address the same byte of the same file in both? */
bool replaced_is_same(const struct mapping *a, const struct mapping *b);

/* A file that is held without a mapping: until places are forgotten, or records are taken. */
struct loan {
    struct mapped_file *file;
    uint64_t time;
};

struct loans {
    struct loan *items;
    size_t count, room;
};

struct processes {
    pthread_mutex_t lock; /* for processes_hold(); recursive */
    struct mapped_files *files;
    struct task_events *events; /* NULL: not listening */
    int listening;              /* 0, or why not */
    bool listens_to_all;        /* and not to one task */
    struct history history;
    uint32_t *pids; /* these only, if there are any */
    size_t pid_count;
    uint64_t begin;    /* execs and exits are counted from here on */
    uint64_t reported; /* when the last report was done */
    uint64_t read;     /* when processes_read() was last called */
    uint64_t window;   /* when this report's events begin */
    struct text *unsure; /* labels of places where one of several files was mapped */
    size_t unsure_count, unsure_room;
    uint64_t lost_records, lost_before, lost_at;
    uint64_t doubtful; /* lookups in processes whose pid had other owners, too */
    uint64_t unread;   /* looks that failed, except for exits and lack of rights */
    uint64_t looked_again; /* when files were last checked for writes */
    struct loans lent;  /* with places that were found */
    struct loans early; /* with records that were not taken yet */
    unsigned looked;    /* at, in /proc, at first */
    int result;         /* -ENOMEM if a record could not be kept */
};

/* The name of a thread now, for a program's `name`. False: it is not to be seen; *name stays. */
bool processes_read_name(uint32_t pid, uint32_t tid, char *name);

/* Reads the owner from /proc, once per program. False: it was read before. */
bool look_at_owner(struct processes *processes, struct life *life);

/* ---- For tests ---- */

/* A record, as if the kernel had sent it. */
void processes_take(void *processes, const struct task_event *event);

#endif
