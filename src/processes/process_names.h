/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Names of processes: a process has the name of its first thread, at the time of the report or when
 * it ended. A tally has the names of the threads whose events they were, at that time.
 */
#ifndef STACKBOX_PROCESSES_PROCESS_NAMES_H
#define STACKBOX_PROCESSES_PROCESS_NAMES_H

#include "processes/process.h"
#include "tally/tally.h"

struct process_name {
    uint32_t pid;
    bool foreign;
    bool known; /* otherwise unknown, and its threads keep their own names */
    bool from_thread, doubtful; /* from a first thread in the tally; and another one differs */
    uint64_t generation;
    char comm[COMM_BYTES + 1];
    char shown[COMM_BYTES + 1]; /* by /proc, when the names were made; "": nothing */
};

struct process_names {
    struct process_name *items; /* sorted */
    size_t count, room;
};

/*
 * For all processes in the tally. `processes` may be NULL: then first threads in the tally give the
 * names. 0 or -ENOMEM; process_names_free after either.
 */
int process_names_make(struct process_names *names, const struct tally *tally,
                       struct processes *processes);
/* After items were added in another way. */
void process_names_sort(struct process_names *names);
void process_names_free(struct process_names *names);

/* The process's name, or the task's own. */
const char *process_names_find(const struct process_names *names, const struct tally_task *task);

#endif
