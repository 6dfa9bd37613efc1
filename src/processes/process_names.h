/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What processes are called: a process has the name of its first thread, as it is at the report, or as it
 * was last. What a tally has are the names of the threads whose events they were, as they then were.
 */
#ifndef STACKBOX_PROCESSES_PROCESS_NAMES_H
#define STACKBOX_PROCESSES_PROCESS_NAMES_H

#include "processes/process.h"
#include "tally/tally.h"

struct process_name {
    uint32_t pid;
    bool foreign;
    bool known; /* else nobody told, and its threads are called what they are */
    bool from_thread, doubtful; /* a first thread in the tally has it; and another one another */
    uint64_t born;
    char comm[COMM_BYTES + 1];
};

struct process_names {
    struct process_name *items; /* sorted */
    size_t count, room;
};

/*
 * Of all processes in the tally. `processes` may be NULL: then what the tally has of first threads
 * tells. 0 or -ENOMEM; process_names_free after either.
 */
int process_names_make(struct process_names *names, const struct tally *tally,
                       struct processes *processes);
/* Those that were put there otherwise. */
void process_names_sort(struct process_names *names);
void process_names_free(struct process_names *names);

/* The process's name, or the party's own. */
const char *process_names_find(const struct process_names *names, const struct tally_party *party);

#endif
