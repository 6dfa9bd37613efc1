/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the parts of the process tracker share, and nobody else uses. */
#ifndef STACKBOX_SYMBOLS_PROCESS_PARTS_H
#define STACKBOX_SYMBOLS_PROCESS_PARTS_H

#include "kernel/task_events.h"
#include "symbols/history.h"
#include "symbols/process.h"
#include "util.h"

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
    struct mapped_files *files;
    struct task_events *events; /* NULL: nobody tells */
    int listening;              /* 0, or why not */
    struct history history;
    uint32_t *pids; /* of these alone, when there are any */
    size_t pid_count;
    uint64_t begin;    /* from when execs and exits are counted */
    uint64_t reported; /* when the last report was done */
    uint64_t lost_records, lost_before, lost_at;
    uint64_t looked_again; /* when files were last asked whether they were written to */
    struct loans lent;  /* with the places that were found */
    struct loans early; /* of records that were not taken yet */
    int result;         /* -ENOMEM where a record could not be kept */
};

/* Whose it is, as long as /proc shows that: once for each program. */
void look_at_owner(struct processes *processes, struct life *life);

/* ---- For tests ---- */

/* One record, as if the kernel had told it. */
void processes_take(struct processes *processes, const struct task_event *event);

#endif
