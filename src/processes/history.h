/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The lives of processes by their pids, and the programs that each ran in turn: what was told of
 * them, in order. Nothing is looked up here.
 */
#ifndef STACKBOX_PROCESSES_HISTORY_H
#define STACKBOX_PROCESSES_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "processes/process.h"
#include "processes/replaced.h"

/* Programs that a process left by exec, of each process; the oldest is forgotten. */
#define HISTORY_PROGRAMS 64

enum program_origin {
    PROGRAM_INHERITED, /* by a fork */
    PROGRAM_SEEN,      /* in /proc, at life->seen */
    PROGRAM_EXECUTED,
};

struct program {
    struct program *older;
    char name[16]; /* of its process, as it was told or seen last; "": not known */
    uint64_t since; /* 0: since before we looked */
    enum program_origin origin;
    struct image *image;
    struct replaced_list replaced; /* what was mapped in it before */
};

/* Whose a JIT's memory was, as long as it could be seen. */
struct owner {
    uint32_t users[2];        /* real and effective */
    uint32_t namespace_pid;   /* in its own pid namespace */
    struct mapped_root *root; /* NULL: could not be seen */
    uint64_t start;           /* when the process began, in ns as files have it; 0: not known */
    uint64_t since;
};

/* All times are of CLOCK_MONOTONIC in ns. */
struct life {
    struct life *next;          /* in its bucket: what is newer comes first */
    struct life *later;         /* that ended */
    struct program *programs;   /* the newest first; there is one at least */
    size_t program_count;
    struct owner *owner;        /* NULL: not known */
    uint32_t pid, parent;
    uint32_t threads;           /* 0: not known */
    bool ended;
    uint64_t forked, ended_at;  /* forked 0: before we looked */
    uint64_t first_thread_ended; /* when; 0: it did not. Others may go on */
    uint64_t seen, seen_until;  /* looked at in /proc: what came before is in what was seen */
};

struct history {
    struct mapped_files *files; /* the caller's */
    const struct processes_watcher *watcher; /* likewise; NULL: nobody listens */
    size_t most_bytes;          /* of what is kept of the past */
    struct life **buckets;
    size_t bucket_count, count;
    struct life *first_ended, *last_ended;
    size_t past_bytes;
    uint64_t forgotten; /* ended lives and left programs that had no room */
    bool ends_forgotten; /* the caller's: `born` may be 0 where it was to say that a process ended */
};

int history_open(struct history *history, struct mapped_files *files, size_t most_bytes);
void history_close(struct history *history);

/* Tells of all that lives, and from then on of what comes. */
void history_watch(struct history *history, const struct processes_watcher *watcher);

/* The newest life of a pid, or NULL. */
struct life *history_newest(const struct history *history, uint32_t pid);
/* The same if it has not ended. */
struct life *history_living(const struct history *history, uint32_t pid);

/*
 * A new life of a pid; one that went on before has ended then. `image`, whose reference it takes,
 * is what it begins with. NULL: memory ran out.
 */
struct life *history_begin(struct history *history, uint32_t pid, uint64_t time,
                           enum program_origin origin, struct image *image);
/* The life goes on with another program, whose image it takes. 0 or -ENOMEM. */
int history_exec(struct history *history, struct life *life, uint64_t time, struct image *image);
/* What the newest program is, was seen: `image`, which it takes, is put in its place. */
void history_see(struct history *history, struct life *life, struct image *image);
/* As image_add, to the newest program, which has it from `time` on. */
int history_map(struct history *history, struct life *life, const struct mapping *mapping,
                uint64_t time);
void history_end(struct history *history, struct life *life, uint64_t time);

/*
 * Forgets whose life ended before `time`, and the programs that were left before; and what was replaced
 * before `replaced`.
 */
void history_forget(struct history *history, uint64_t time, uint64_t replaced);

/*
 * The program that `born` stands for (see process.h), `begin` being when execs and exits began to
 * be counted, and its life. NULL: nothing is known of it.
 */
struct program *history_find(const struct history *history, uint32_t pid, uint64_t born,
                             uint64_t begin, struct life **of);

/* Likewise of an event of which nothing but its time is known. */
struct program *history_find_at(const struct history *history, uint32_t pid, uint64_t time, struct life **of);

/* And its `born`. */
uint64_t history_born_at(const struct history *history, uint32_t pid, uint64_t time, uint64_t begin);

/*
 * Where ends were forgotten: whether a `born` of 0 may as well be of a life that came after that
 * which it stands for.
 */
bool history_is_in_doubt(const struct history *history, uint32_t pid, uint64_t born,
                         uint64_t begin);

#endif
