/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Who had what mapped when: from an address of a process, living or gone, to a file and an address
 * in that. The kernel tells of every fork, exec, executable mapping and exit; what ran before is
 * looked up once in /proc.
 *
 * What is kept of exited processes, and of programs that processes have left by exec, comes to at
 * most a part of the free memory, or PROCESSES_KEPT_BYTES: then the oldest go first, and are counted.
 */
#ifndef STACKBOX_PROCESSES_PROCESS_H
#define STACKBOX_PROCESSES_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "processes/mapped_files.h"

#define PROCESSES_KEPT_BYTES (8u << 20)
#define PROCESSES_KEPT_SHARE 64 /* of the free memory, */
#define PROCESSES_KEPT_MOST (512u << 20) /* as long as that is no more */

struct process_place {
    enum mapped_kind kind;
    struct mapped_file *file; /* or NULL; good until processes_forget() */
    /*
     * In a file the offset, from which mapped_file_address() makes the address: nothing of a file is
     * read to find a place. Elsewhere the distance from where the mapping began.
     */
    uint64_t address;
    const char *label; /* "libc.so.6", "[vdso]", "[anon]"; "" where nothing is mapped */
};

struct processes_wishes {
    const uint32_t *pids; /* of these alone, where there are any */
    size_t pid_count;
    uint32_t task; /* who may not listen to all listens to this one and what it forks; 0: to nobody */
    bool silent; /* neither listen nor look: everything is looked up when it is asked for */
    uint64_t free_memory; /* bytes; 0: nobody told */
};

struct processes;
struct mapping;

/*
 * Who hears of what processes run, as it is told or seen: after each call of these functions that reads. The
 * kernel tells of no unmapping: a mapping holds until another takes its place.
 */
struct processes_watcher {
    void *context;
    /* The process has this from now on, over all that was there. Its file is lent (mapped_files.h). */
    void (*mapped)(void *context, uint32_t pid, const struct mapping *mapping);
    /* All that it had is gone: it begins another program. */
    void (*execs)(void *context, uint32_t pid);
    void (*ended)(void *context, uint32_t pid);
};

/*
 * Listens first, then looks once at what runs. 0 or a negative errno; without the right to listen it
 * works from what /proc shows when it is asked.
 */
int processes_open(struct processes **made, const struct processes_wishes *wishes);
void processes_close(struct processes *processes);

/* To be called once execs and exits are counted (see `born`), before anything is traced. */
void processes_begin(struct processes *processes);

/*
 * From here on a `born` of 0 may be that of a process which came after others with its number that
 * ended: where there are such, nothing is found rather than the wrong one.
 */
void processes_ends_forgotten(struct processes *processes);

/*
 * Two threads may use it: each of these functions that reads, finds or forgets is done alone, and what a thread has
 * between these two. What was found stays good for who found it.
 */
void processes_hold(struct processes *processes);
void processes_release(struct processes *processes);

/*
 * The watcher, which is the caller's, is told what is there, and from then on what comes; one that is forked
 * has at first all that its parent had. NULL: nobody listens any more.
 */
void processes_watch(struct processes *processes, const struct processes_watcher *watcher);

/* Whose the files are that a watcher holds: mapped_file_drop() asks. */
struct mapped_files *processes_files(const struct processes *processes);

/* Why there is no listening: 0 when there is, else a negative errno (-ECANCELED: not wished). */
int processes_listening(const struct processes *processes);

/*
 * Readable some milliseconds after the kernel told something; below 0 without listening. Not to be
 * read from.
 */
int processes_fd(const struct processes *processes);

/* Takes what the kernel told since. 0 or a negative errno. */
int processes_read(struct processes *processes);

/* Takes all that was told until now, to the last record. 0 or a negative errno. */
int processes_settle(struct processes *processes);

/*
 * From which time of that life and program of `pid` an event is: what was mapped where changes at
 * times. 0: nobody knows of any change. processes_settle() comes first, after the event.
 */
uint32_t processes_epoch(struct processes *processes, uint32_t pid, uint64_t born, uint64_t time);

/* To be called now and then: listens on CPUs that came online, too. */
void processes_look_at_cpus(struct processes *processes);

/*
 * Looks `count` sorted addresses up, of the life and program of `pid` that `born` stands for:
 *   0     no exec and no exit of that pid was seen since processes_begin();
 *   even  the time of its last exec (CLOCK_MONOTONIC ns, taken after the kernel told of it);
 *   odd   the time of the exit of the last process that had this pid, its lowest bit set: the
 *         next process with it, before any exec, or threads of the old one that go on.
 * Of `epoch` 0 they may be of any time since the report before this one: where several files were mapped
 * at an address meanwhile its place is "[liba.so or libb.so]", MAPPED_OTHER, with the distance from where
 * that begins. Every places[i] is filled in. 0 or a negative errno: -ENOENT when nothing is known of the
 * process, -ENOMEM.
 */
int processes_find(struct processes *processes, uint32_t pid, uint64_t born, uint32_t epoch,
                   const uint64_t *addresses, size_t count, struct process_place *places);

/*
 * What code `pid` had mapped at an address at that time, as far as we were told or saw: *address becomes the
 * offset in the file, or the distance from where the mapping began. Nothing is read or looked at for it:
 * processes_settle() comes first, after the event. NULL: nobody knows. Good until the next call that reads.
 */
struct mapped_file *processes_code_at(struct processes *processes, uint32_t pid, uint64_t time, uint64_t *address);

/*
 * The `born` of an event that tells its time and not its program: what processes_find and the like take.
 * It is as good as what the kernel told, to which processes_settle() comes first.
 */
uint64_t processes_born_at(const struct processes *processes, uint32_t pid, uint64_t time);

/*
 * What the process of that life and program is called, which is its first thread's name, or was when it
 * ended: at most 15 bytes and a NUL into `comm`, which has COMM_BYTES + 1. False: not known.
 */
bool processes_name(struct processes *processes, uint32_t pid, uint64_t born, char *comm);

/*
 * A report is done: what ended before the report before this one can go. Places that were found
 * before are not to be used any more.
 */
void processes_forget(struct processes *processes);

struct processes_lost {
    uint64_t records;   /* that the kernel had no room for */
    uint64_t forgotten; /* ended processes and programs that did not fit into the bound */
    uint64_t files;     /* that were not kept open, for want of descriptors */
    uint64_t unread;    /* looks at processes that failed, though they and the rights were there */
    uint64_t doubtful;  /* finds of processes that others had the number of, too */
};

/* Since the beginning. */
struct processes_lost processes_lost(const struct processes *processes);

struct jitmap_refusal {
    char path[64];      /* of the file that is ignored */
    const char *reason; /* "it belongs to another user" */
};

/*
 * Opens the perf map that a JIT wrote: /tmp/perf-N.map in the root of the process, N being its pid
 * in its own pid namespace, else /tmp/perf-PID.map in ours; one that is older than the process is
 * somebody else's. A descriptor, which is the caller's to close; -ENOENT: there is none; -EACCES:
 * there is one that is not to be trusted, as *refusal says.
 */
int processes_open_jitmap(struct processes *processes, uint32_t pid, uint64_t born,
                          struct jitmap_refusal *refusal);

#endif
