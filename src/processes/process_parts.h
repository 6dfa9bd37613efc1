/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the parts of the process tracker share, and nobody else uses. */
#ifndef STACKBOX_PROCESSES_PROCESS_PARTS_H
#define STACKBOX_PROCESSES_PROCESS_PARTS_H

#include <pthread.h>

#include "base/text.h"
#include "kernel/task_events.h"
#include "processes/history.h"
#include "processes/process.h"

/* A file that somebody else than a mapping holds: until places are forgotten, or records taken. */
struct loan {
    struct mapped_file *file;
    uint64_t time;
};

struct loans {
    struct loan *items;
    size_t count, room;
};

struct processes {
    pthread_mutex_t lock; /* as processes_hold() has it; taken again by who has it */
    struct mapped_files *files;
    struct task_events *events; /* NULL: nobody tells */
    int listening;              /* 0, or why not */
    struct history history;
    uint32_t *pids; /* of these alone, when there are any */
    size_t pid_count;
    uint64_t begin;    /* from when execs and exits are counted */
    uint64_t reported; /* when the last report was done */
    uint64_t read;     /* when it was read last, but for finding */
    uint64_t window;   /* from when the events of this report are */
    struct text *unsure; /* labels of places of which nobody knows what was there */
    size_t unsure_count, unsure_room;
    uint64_t lost_records, lost_before, lost_at;
    uint64_t doubtful; /* finds of processes that others had the number of, too */
    uint64_t unread;   /* looks that failed, and not because somebody ended, or by our rights */
    uint64_t looked_again; /* when files were last asked whether they were written to */
    struct loans lent;  /* with the places that were found */
    struct loans early; /* of records that were not taken yet */
    int result;         /* -ENOMEM where a record could not be kept */
};

/* Whose it is, as long as /proc shows that: once for each program. False: that was before. */
bool look_at_owner(struct processes *processes, struct life *life);

/*
 * What a process has mapped now: all that is executable, or whatever holds one of the sorted
 * addresses. 0, with an image whose reference is the caller's; -ENOENT when the process is gone, or
 * shows no executable memory; or another negative errno.
 */
int processes_look(struct processes *processes, uint32_t pid, const uint64_t *addresses,
                   size_t count, struct image **image);
/* Looks at all that run, or at those that are wished for. 0 or a negative errno. */
int processes_look_at_all(struct processes *processes);

/* Takes what was told that is not younger than `until`. 0 or -ENOMEM. */
int processes_read_until(struct processes *processes, uint64_t until);

/* Holds a file. 0 or -ENOMEM. */
int processes_lend(struct loans *loans, struct mapped_file *file, uint64_t time);
/* Gives back what was lent up to `time`. */
void processes_take_back(struct processes *processes, struct loans *loans, uint64_t time);

/* ---- For tests ---- */

/* One record, as if the kernel had told it. */
void processes_take(struct processes *processes, const struct task_event *event);

#endif
