/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which process had what mapped when: from an address of a process, living or gone, to a file and
 * an address in it. The kernel reports every fork, exec, executable mapping and exit; /proc shows
 * once what ran before.
 *
 * What is kept of exited processes, and of programs that processes left by exec, is limited to a
 * share of the free memory, or to PROCESSES_KEPT_BYTES: the oldest go first, and are counted.
 */
#ifndef STACKBOX_PROCESSES_PROCESS_H
#define STACKBOX_PROCESSES_PROCESS_H

#include "processes/mapped_files.h"
#include "tally/tally.h"

#define PROCESSES_KEPT_BYTES (8u << 20)
#define PROCESSES_KEPT_SHARE 64 /* of free memory, */
#define PROCESSES_KEPT_MOST (512u << 20) /* at most */

struct process_place {
    enum mapped_kind kind;
    struct mapped_file *file; /* or NULL; valid until processes_forget() */
    /*
     * In a file, the offset, which mapped_file_address() turns into an address: finding a place
     * reads no file. Otherwise the distance from the beginning of the mapping.
     */
    uint64_t address;
    const char *label; /* "libc.so.6", "[vdso]", "[anon]"; "" if nothing is mapped */
};

struct processes_options {
    const uint32_t *pids; /* of these only, if there are any */
    size_t pid_count;
    uint32_t task; /* without the right to all: listen to this one and what it forks; 0: no */
    bool silent; /* neither listen nor look: everything is looked up on demand */
    bool told;   /* the caller tells (processes_tell(), _see()): do not listen */
    uint64_t free_memory; /* bytes; 0: unknown */
};

struct processes;
struct mapping;

/*
 * The process has mapped this, over what was there. The file is lent (mapped_files.h). Called by
 * functions below that read reports or /proc. The kernel does not report unmapping: a mapping lasts
 * until another replaces it, or the process begins another program or ends.
 */
typedef void processes_mapped(void *context, uint32_t pid, const struct mapping *mapping);

/*
 * Listens first, then looks once at what runs. 0 or a negative errno. Without the right to listen,
 * lookups read /proc on demand.
 */
int processes_open(struct processes **made, const struct processes_options *options);
void processes_close(struct processes *processes);

/* Call it once execs and exits are counted (see `generation`), before anything is traced. */
void processes_begin(struct processes *processes);

/*
 * From now on a `generation` of 0 may be that of a process whose pid other processes had before: if
 * there were any, lookups find nothing rather than the wrong process.
 */
void processes_ends_forgotten(struct processes *processes);

/*
 * Two threads may use it: each function that reads, finds or forgets takes its lock, and these two
 * hold it for longer. What a thread found stays valid for that thread.
 */
void processes_hold(struct processes *processes);
void processes_release(struct processes *processes);

/*
 * Tells the watcher what is mapped, and from then on what comes; a forked process begins with
 * everything that its parent had. NULL: no watcher any more.
 */
void processes_watch(struct processes *processes, processes_mapped *mapped, void *context);

/* The table of the files that a watcher holds: for mapped_file_drop(). */
struct mapped_files *processes_files(const struct processes *processes);

/* Why it does not listen: 0 if it does, otherwise a negative errno (-ECANCELED: not wanted). */
int processes_listening(const struct processes *processes);

/*
 * Becomes readable some milliseconds after the kernel reported something; below 0 if not listening.
 * Do not read from it.
 */
int processes_fd(const struct processes *processes);

/* Handles what the kernel has reported since. 0 or a negative errno. */
int processes_read(struct processes *processes);

/* Handles everything reported until now, to the last record. 0 or a negative errno. */
int processes_settle(struct processes *processes);

/*
 * A number for the time between two replaced mappings of that life and program of `pid`. 0: no
 * mapping was replaced, as far as is known. Call processes_settle() first, after the event.
 */
uint32_t processes_epoch(struct processes *processes, uint32_t pid, uint64_t generation,
                         uint64_t time);

struct task_event;
/* With `told`: a fork, an exec, a name or an exit. */
void processes_tell(struct processes *processes, const struct task_event *event);
/* With `told`: looks at what a process has mapped; call it whenever that may have changed. */
void processes_see(struct processes *processes, uint32_t pid);

/*
 * Call it some times a second, and with `at_once` before losses are reported: listens on CPUs that
 * came online, too.
 */
void processes_look_at_cpus(struct processes *processes, bool at_once);

/*
 * Looks `count` sorted addresses up, in the life and program of `pid` that `generation` stands for:
 *
 *   0     no exec and no exit of that pid was seen since processes_begin();
 *   even  the time of its last exec (CLOCK_MONOTONIC ns, taken after the kernel reported it);
 *   odd   the time of the exit of the last process that had this pid, its lowest bit set: the
 *         next process with it, before any exec, or threads of the old one that go on.
 *
 * With LIFE_THEN_BIT it is a time at which the process had that pid, as it may still at its exit.
 *
 * With `epoch` 0 they may be of any time since the report before this one: if several files were
 * mapped at an address meanwhile, its place is "[liba.so or libb.so]", MAPPED_OTHER, with the
 * distance from where that begins. Every places[i] is filled in. 0 or a negative errno: -ENOENT if
 * nothing is known of the process, -ENOMEM.
 */
int processes_find(struct processes *processes, uint32_t pid, uint64_t generation, uint32_t epoch,
                   const uint64_t *addresses, size_t count, struct process_place *places);

/*
 * The code that `pid` had mapped at an address at that time, as far as was reported or seen:
 * *address becomes the offset in the file, or the distance from the beginning of the mapping. Does
 * not read reports: call processes_settle() first, after the event. NULL: unknown. Valid until the
 * next call that reads.
 */
struct mapped_file *processes_code_at(struct processes *processes, uint32_t pid, uint64_t time,
                                      uint64_t *address);

/*
 * The `generation`, for processes_find() and the like, of an event of which only the time is known.
 * Depends on the kernel's reports: call processes_settle() first.
 */
uint64_t processes_generation_at(const struct processes *processes, uint32_t pid, uint64_t time);

/*
 * Ends a report: whatever ended before the previous report may go. Places found before are no
 * longer valid.
 */
void processes_forget(struct processes *processes);

struct processes_lost {
    uint64_t records;   /* that the kernel had no room for */
    uint64_t forgotten; /* ended processes and programs that exceeded the limit */
    uint64_t files;     /* that were not kept open, for lack of descriptors */
    uint64_t unread;    /* failed looks at living processes that we may look at */
    uint64_t doubtful;  /* lookups of a pid that had several processes */
    unsigned cpus;      /* that came online: events there were missed at first */
};

/* Since the beginning. */
struct processes_lost processes_lost(const struct processes *processes);

struct jitmap_refusal {
    char path[64];      /* of the file that is ignored */
    const char *reason; /* "it belongs to another user" */
    /* How to get a map, for a known runtime without one: "node --perf-basic-prof"; or NULL. */
    const char *advice;
};

/*
 * Opens the perf map that a JIT wrote: /tmp/perf-N.map in the root of the process, N being its pid
 * in its own pid namespace, or else /tmp/perf-PID.map in ours; one older than the process is an
 * earlier process's. A descriptor, which the caller closes; -ENOENT: there is none; -EACCES: there
 * is one that cannot be trusted, as *refusal says.
 */
int processes_open_jitmap(struct processes *processes, uint32_t pid, uint64_t generation,
                          struct jitmap_refusal *refusal);

/*
 * Names of processes: a process has the name of its first thread, at the time of the report or when
 * it ended. A tally has the names of threads, at the time of their events.
 */

struct process_name {
    uint32_t pid;
    bool foreign;
    bool known; /* otherwise unknown, and its threads keep their own names */
    bool from_thread, doubtful; /* a first thread in the tally has it; another has another */
    uint64_t generation;
    char comm[COMM_BYTES + 1];
    char shown[COMM_BYTES + 1]; /* by /proc, when the names were made; "": not asked */
};

struct process_names {
    struct process_name *items; /* sorted */
    size_t count, room;
};

/*
 * For all processes in the tally. `processes` may be NULL: first threads in the tally then give the
 * names. 0 or -ENOMEM; process_names_free after either.
 */
int process_names_make(struct process_names *names, const struct tally *tally,
                       struct processes *processes);
/* Call it after adding items in another way. */
void process_names_sort(struct process_names *names);
void process_names_free(struct process_names *names);

/* The process's name, or the task's own. */
const char *process_names_find(const struct process_names *names, const struct tally_task *task);

#endif
