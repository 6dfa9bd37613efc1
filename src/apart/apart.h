/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Files written by strangers are read by a process apart. It holds no capability, has a user of its
 * own where possible, and where the kernel has seccomp it can do little but read what is open, compute
 * and answer: a file that takes over its reader gains nothing. Whatever must be opened meanwhile is
 * opened by a second process, which holds only the capabilities for opening and opens only regular
 * files, for reading. Both end with the call, and with us, however we end.
 */
#ifndef STACKBOX_APART_APART_H
#define STACKBOX_APART_APART_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"
#include "insns/machine.h"

/* Runs in the process apart and appends its result to `answer`. 0 or a negative errno. */
typedef int apart_work(void *context, struct text *answer);

/*
 * Runs in the opener: another way of opening than apart_open(). A descriptor, with whatever there
 * is to say about it in `told`, or a negative errno.
 */
typedef int apart_opener(unsigned how, const char *root, const char *path, struct text *told);

struct apart_job {
    apart_work *work;
    void *context;
    const struct machine *machine; /* ours: its system calls make the reader's filter */
    const int *keep; /* descriptors that it reads; all others are closed in it. Below 0: none */
    size_t keep_count;
    apart_opener *open; /* for apart_ask(); NULL: none */
    bool aside;         /* it runs beside another: see apart_begin() */
    bool asks_nothing;  /* it never calls apart_ask(): its opener keeps no descriptors */
    unsigned seconds;   /* of CPU time, after which the reader is killed; 0: APART_MOST_SECONDS */
    uint64_t memory;    /* how many bytes it may take; 0: see apart_bound() */
};

#define APART_MOST_SECONDS 300

/*
 * One of the processes could not give up its rights: the work was not begun. No other failure
 * returns this.
 */
#define APART_KEEPS_RIGHTS (-EKEYREVOKED)

/*
 * Runs the work on a copy of our memory: its changes are not seen here. `answer` becomes its
 * answer, which is as trustworthy as what it read. 0; what the work returned; -EBADMSG if a signal
 * ended it (*signal; 0: the cause is unknown) or the answer is too long; APART_KEEPS_RIGHTS; or the
 * negative errno for which no process could be made.
 */
int apart_run(const struct apart_job *job, struct text *answer, int *signal);

/* The same in the background. One job that is `aside` and one that is not may run at a time. */
struct apart_run {
    pid_t pid;          /* 0: not running */
    int answers;        /* readable when there is something to take */
    bool aside;
    struct text answer; /* the caller's to free */
    uint64_t cpu_ns;    /* of both processes, once ended */
};
/* Begins it. 0 or a negative errno. `answer` is emptied, but its memory is kept. */
int apart_begin(struct apart_run *run, const struct apart_job *job);
/*
 * Waits until that time (now_ns) at most. -EINPROGRESS: it is still running; otherwise it has
 * ended, with results as from apart_run(). 0 with a *signal: that ended it when it had sent a part.
 */
int apart_take(struct apart_run *run, uint64_t until, int *signal);
/* Ends it, if it runs. `answer` becomes what it had sent. */
void apart_stop(struct apart_run *run);

/*
 * Called in the opener and in the reader before they do anything else; and when they have ended,
 * while nobody else can have their pids yet: in the opener about the reader, in us about the opener
 * (and about the reader, if it was killed). NULL: no watcher.
 */
enum apart_role {
    APART_OPENER,
    APART_READER,
    APART_ASIDE, /* beside one of those */
};
typedef void apart_watcher(void *context, bool begins, unsigned role);
void apart_watch(apart_watcher *watcher, void *context);

/* Whichever process is made: its own memory may be half of what this says (0: unknown). NULL: any. */
typedef uint64_t apart_memory(void);
void apart_bound(apart_memory *free_memory);

/* Appends what happened to it: "was ended by signal 11: Segmentation fault". */
void apart_explain(int result, int signal, struct text *why);

/*
 * Opens a regular file for reading, in whichever process may. If `root` is not NULL, the path is
 * below it and no link in `path` leads out of it. A descriptor, -EINVAL for anything but a regular
 * file or for a place where no programs are (apart_places.h), or another negative errno.
 */
int apart_open(const char *root, const char *path);

/*
 * In the process apart: sends what there is of the answer, and empties it. What was sent is kept,
 * however the rest of the work ends. False: nobody reads it.
 */
bool apart_send(struct text *answer);

/* Are we the process apart? If not, there is nobody to ask. */
bool apart_is_here(void);
/* Opens with the job's opener; `how` is 1 to 255, the rest as for apart_opener. */
int apart_ask(unsigned char how, const char *root, const char *path, struct text *told);

#endif
