/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What process.c, process_names.c and jitmap.c share. */
#ifndef STACKBOX_PROCESSES_PROCESS_PARTS_H
#define STACKBOX_PROCESSES_PROCESS_PARTS_H

#include <pthread.h>

#include "base/text.h"
#include "kernel/task_events.h"
#include "processes/history.h"
#include "processes/process.h"

/* A file held without a mapping: until places are forgotten, or records taken. */
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
    struct history history;
    uint32_t *pids; /* these only, if there are any */
    size_t pid_count;
    uint64_t begin;    /* execs and exits are counted from here on */
    uint64_t reported; /* when the last report was done */
    uint64_t read;     /* when it was last read, except for finding */
    uint64_t window;   /* when this report's events begin */
    struct text *unsure; /* labels of places where it is unknown what was there */
    size_t unsure_count, unsure_room;
    uint64_t lost_records, lost_before, lost_at;
    uint64_t doubtful; /* lookups in processes whose pid had other owners, too */
    uint64_t unread;   /* looks that failed, other than by exits or for lack of rights */
    uint64_t looked_again; /* when files were last checked for writes */
    struct loans lent;  /* with places that were found */
    struct loans early; /* with records that were not taken yet */
    int result;         /* -ENOMEM if a record could not be kept */
};

/*
 * The name of a thread now, for a program's `name`. False: not to be seen, and `name` is as it
 * was.
 */
bool processes_read_name(uint32_t pid, uint32_t tid, char *name);

/* Finds its owner, as long as /proc shows it: once per program. False: it had been found before. */
bool look_at_owner(struct processes *processes, struct life *life);

/* ---- For tests ---- */

/* A record, as if the kernel had sent it. */
void processes_take(void *processes, const struct task_event *event);

#endif
