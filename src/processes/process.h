/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Who had what mapped when: from an address of a process, living or gone, to a file and an address
 * in it. The kernel reports every fork, exec, executable mapping and exit; what ran before is
 * looked up once in /proc.
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
    uint32_t task; /* listen to this one and what it forks if not allowed all; 0: not at all */
    bool silent; /* neither listen nor look: everything is looked up on demand */
    bool told;   /* by processes_tell() and processes_see(), instead of listening */
    uint64_t free_memory; /* bytes; 0: unknown */
};

struct processes;
struct mapping;

/*
 * Is told what processes run, as it is reported or seen: after each of the functions below that
 * reads. The kernel does not report unmapping: a mapping lasts until another replaces it.
 */
struct processes_watcher {
    void *context;
    /*
     * The process has this from now on, replacing what was there. Its file is lent
     * (mapped_files.h).
     */
    void (*mapped)(void *context, uint32_t pid, const struct mapping *mapping);
    /* All its mappings are gone: it begins another program. */
    void (*execs)(void *context, uint32_t pid);
    void (*ended)(void *context, uint32_t pid);
};

/*
 * Listens first, then looks once at what runs. 0 or a negative errno; without the right to listen
 * it works from /proc, on demand.
 */
int processes_open(struct processes **made, const struct processes_options *options);
void processes_close(struct processes *processes);

/* To be called once execs and exits are counted (see `generation`), before anything is traced. */
void processes_begin(struct processes *processes);

/*
 * From now on a `generation` of 0 may be that of a process whose pid belonged to others before: if
 * there were any, nothing is found rather than the wrong one.
 */
void processes_ends_forgotten(struct processes *processes);

/*
 * Two threads may use it: each function that reads, finds or forgets locks it, and these two lock
 * it for longer. What was found stays valid for its finder.
 */
void processes_hold(struct processes *processes);
void processes_release(struct processes *processes);

/*
 * The watcher, which is the caller's, is told what is there, and from then on what comes; a forked
 * process begins with everything its parent had. NULL: no watcher any more.
 */
void processes_watch(struct processes *processes, const struct processes_watcher *watcher);

/* The table of the files that a watcher holds: for mapped_file_drop(). */
struct mapped_files *processes_files(const struct processes *processes);

/* Why it does not listen: 0 if it does, otherwise a negative errno (-ECANCELED: not wanted). */
int processes_listening(const struct processes *processes);

/*
 * Becomes readable some milliseconds after the kernel reported something; below 0 if not listening.
 * Not to be read from.
 */
int processes_fd(const struct processes *processes);

/* Handles what the kernel has reported since. 0 or a negative errno. */
int processes_read(struct processes *processes);

/* Handles everything reported until now, to the last record. 0 or a negative errno. */
int processes_settle(struct processes *processes);

/*
 * Which period of that life and program of `pid` an event falls into: mappings may be replaced. 0:
 * no change is known. Call processes_settle() first, after the event.
 */
uint32_t processes_epoch(struct processes *processes, uint32_t pid, uint64_t generation,
                         uint64_t time);

struct task_event;
/* With `told`: a fork, an exec, a name or an exit. */
void processes_tell(struct processes *processes, const struct task_event *event);
/* And what a process has mapped now: to be looked at again whenever that may have changed. */
void processes_see(struct processes *processes, uint32_t pid);

/*
 * To be called some times a second, and, `at_once`, before the losses are told: listens on CPUs
 * that came online, too.
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
 * *address becomes the offset in the file, or the distance from the beginning of the mapping. Reads
 * nothing: call processes_settle() first, after the event. NULL: unknown. Valid until the next call
 * that reads.
 */
struct mapped_file *processes_code_at(struct processes *processes, uint32_t pid, uint64_t time,
                                      uint64_t *address);

/*
 * The `generation`, for processes_find and the like, of an event that has a time but not its
 * program. As good as the kernel's reports: call processes_settle() first.
 */
uint64_t processes_generation_at(const struct processes *processes, uint32_t pid, uint64_t time);

/*
 * A report is done: whatever ended before the previous report may go. Places found before are no
 * longer valid.
 */
void processes_forget(struct processes *processes);

struct processes_lost {
    uint64_t records;   /* that the kernel had no room for */
    uint64_t forgotten; /* ended processes and programs that exceeded the limit */
    uint64_t files;     /* that were not kept open, for lack of descriptors */
    uint64_t unread;    /* looks that failed, although process and rights were there */
    uint64_t doubtful;  /* lookups in processes whose pid had other owners, too */
    unsigned cpus;      /* that came online: what happened there before we noticed */
};

/* Since the beginning. */
struct processes_lost processes_lost(const struct processes *processes);

struct jitmap_refusal {
    char path[64];      /* of the file that is ignored */
    const char *reason; /* "it belongs to another user" */
    /* Of a known runtime without one: "node --perf-basic-prof" makes it; or NULL. */
    const char *advice;
};

/*
 * Opens the perf map that a JIT wrote: /tmp/perf-N.map in the root of the process, N being its pid
 * in its own pid namespace, or else /tmp/perf-PID.map in ours; one older than the process is an
 * earlier process's. A descriptor, which the caller closes; -ENOENT: there is none; -EACCES: there is
 * one that cannot be trusted, as *refusal says.
 */
int processes_open_jitmap(struct processes *processes, uint32_t pid, uint64_t generation,
                          struct jitmap_refusal *refusal);

/*
 * Names of processes: a process has the name of its first thread, at the time of the report or when
 * it ended. A tally has the names of the threads whose events they were, at that time.
 */

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
