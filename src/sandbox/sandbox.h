/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Files of other users are read in a sandbox: a reader process that holds no capability, has a user
 * of its own where possible and, where the kernel has seccomp, can do little but read what is open,
 * compute and answer: a file that takes over its reader gains nothing. A second process, the
 * broker, opens what the reader needs meanwhile: it holds only the capabilities for opening, and
 * opens only regular files, for reading. Both end with the call, and with us, however we end.
 */
#ifndef STACKBOX_SANDBOX_SANDBOX_H
#define STACKBOX_SANDBOX_SANDBOX_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"

/* Runs in the sandbox and appends its result to `answer`. 0 or a negative errno. */
typedef int sandbox_work(void *context, struct text *answer);

/*
 * Runs in the broker: another way of opening than sandbox_open(). A descriptor or a negative errno;
 * `told` gets whatever the reader should know about it.
 */
typedef int sandbox_opener(unsigned how, const char *root, const char *path, struct text *told);

struct sandbox_job {
    sandbox_work *work;
    void *context;
    const int *keep; /* descriptors that it reads; all others are closed in it. Below 0: none */
    size_t keep_count;
    sandbox_opener *open; /* for sandbox_ask(); NULL: none */
    bool asks_nothing;  /* it never calls sandbox_ask(): there is no broker */
    bool waits;         /* it may read a pipe: silence does not end sandbox_run() */
    bool aside;         /* it asks nothing, and runs beside another */
    unsigned seconds;   /* of CPU time, after which the reader is killed; 0: SANDBOX_MOST_SECONDS */
    uint64_t memory;    /* how many bytes it may take; 0: see sandbox_bound() */
};

#define SANDBOX_MOST_SECONDS 300

/*
 * One of the processes could not give up its rights, so the work was not begun. No other failure
 * returns this.
 */
#define SANDBOX_KEEPS_RIGHTS (-EKEYREVOKED)

/*
 * Runs the work on a copy of our memory, so its changes are lost. `answer` becomes the work's
 * answer, which is as trustworthy as what it read. 0; what the work returned; -EBADMSG if a signal
 * ended it (*signal; 0: the cause is unknown) or the answer is too long; SANDBOX_KEEPS_RIGHTS;
 * -ETIMEDOUT if it was silent for too long (sandbox_silence()); or a negative errno if no process
 * could be made.
 */
int sandbox_run(const struct sandbox_job *job, struct text *answer, int *signal);

/* The same in the background. One job that is `aside` and one that is not may run at a time. */
struct sandbox_run {
    pid_t pid;          /* 0: not running */
    int answers;        /* readable when there is something to take */
    bool aside;
    struct text answer; /* the caller's to free */
    uint64_t cpu_ns;    /* of both processes, once ended */
    uint64_t since, used; /* of sandbox_silence() */
};
/* Begins it. 0 or a negative errno. `answer` is emptied, but its memory is kept. */
int sandbox_begin(struct sandbox_run *run, const struct sandbox_job *job);
/*
 * Waits until that time (now_ns) at most. -EINPROGRESS: the run goes on; otherwise it has ended,
 * with results as from sandbox_run(). 0 with a *signal: the signal ended it after it had sent a
 * part of its answer.
 */
int sandbox_take(struct sandbox_run *run, uint64_t until, int *signal);
/*
 * For how long (ns) the reader has neither taken CPU time nor waited for a CPU, as seen by repeated
 * calls while it runs: its file may be on a file system that does not answer. A result below
 * SANDBOX_SILENCE_NS means nothing.
 */
uint64_t sandbox_silence(struct sandbox_run *run);
#define SANDBOX_SILENCE_NS 1000000000
#define SANDBOX_MOST_SILENCE_NS 5000000000 /* then the caller gives its answer up */
/* Ends it, if it runs and can be killed. `answer` becomes what it had sent until then. */
void sandbox_stop(struct sandbox_run *run);

/*
 * The broker and the reader call it before they do anything else. It is called again once they have
 * ended, while their pids cannot be reused yet: in the broker about the reader; in us about the
 * broker (and the reader, if the broker was killed), or about a reader without one. NULL: none.
 */
enum sandbox_role {
    SANDBOX_BROKER,
    SANDBOX_READER,
    SANDBOX_ASIDE, /* the reader of a job that is aside */
    SANDBOX_TRIAL, /* of sandbox_try() */
};
typedef void sandbox_watcher(void *context, bool begins, unsigned role);
void sandbox_watch(sandbox_watcher *watcher, void *context);

/*
 * Each process may allocate half of what `free_memory` returns (0: unknown). NULL: no bound.
 */
typedef uint64_t sandbox_memory(void);
void sandbox_bound(sandbox_memory *free_memory);

/*
 * Does `act` return within a second? It runs in a process with our rights, which is killed if not,
 * and left behind if it cannot be killed. One at a time.
 */
bool sandbox_try(void (*act)(const void *context), const void *context);

/* In a process of its own: closes all descriptors but these, which it sorts. */
void close_all_but(int *kept, size_t count);

/* Appends what happened to it: "was killed by signal 11". */
void sandbox_explain(int result, int signal, struct text *why);

/*
 * Opens a regular file for reading, in whichever process may. If `root` is not NULL, the path is
 * below it and no link in `path` leads out of it. A descriptor, -EINVAL for anything but a regular
 * file or for a place where no programs are (policy_allows), or another negative errno.
 */
int sandbox_open(const char *root, const char *path);

/*
 * In the sandbox: sends the answer so far, and empties it. What was sent stays valid, however the
 * rest of the work ends. False: the other end of the pipe is closed.
 */
bool sandbox_send(struct text *answer);

/*
 * In the sandbox: the descriptor, or if it is O_PATH, one for reading the same file, which may wait
 * for a file system that does not answer. Below 0: a negative errno. Where nothing is asked
 * (asks_nothing), those to keep are readable already.
 */
int sandbox_readable(int fd);

/* Are we the sandbox? If not, there is no broker to ask. */
bool sandbox_is_here(void);
/* Opens with the job's broker; `how` is 1 to 255, the rest as for sandbox_opener. */
int sandbox_ask(unsigned char how, const char *root, const char *path, struct text *told);

/* Where files of programs may be: nothing else is opened for the reader. */

/*
 * May this descriptor (O_PATH, too) refer to a program's file? Not in a file system that is an
 * interface of the kernel, such as procfs: a file there may be another process's memory. A file
 * opened *through* procfs (/proc/PID/exe) is elsewhere, and is judged by its own file system.
 */
bool policy_allows(int fd);

/*
 * Opens another user's regular file for reading, by a path from here, or below `root` if that is
 * not "" (see_below(), which also explains *resolved). A descriptor, which the caller closes, or a
 * negative errno: -EISDIR for a directory; -EINVAL for anything else that is not a regular file,
 * and where policy_allows() forbids it.
 */
int policy_open(const char *root, const char *path, struct text *resolved);

/*
 * The bytes of an answer from the sandbox, and a reader of them that trusts nothing: numbers,
 * and texts without NULs.
 */

void answer_put_byte(struct text *answer, unsigned byte);
void answer_put_number(struct text *answer, uint64_t number);
void answer_put_bytes(struct text *answer, const char *bytes, size_t length);
void answer_put_text(struct text *answer, const struct text *text);

/* {.at = bytes, .end = behind them}; once is_bad or failed is set, nothing more is taken. */
struct answer {
    const char *at, *end;
    bool is_bad;   /* these bytes are not ours */
    bool failed;   /* memory ran out */
    bool for_good; /* texts are stored; otherwise only checked */
};

/* All return 0 if no bytes are left. */
unsigned answer_take_byte(struct answer *answer);
/* No bits but these may be set. */
unsigned answer_take_flags(struct answer *answer, unsigned known);
uint64_t answer_take_number(struct answer *answer);
/* What answer_put_bytes() wrote, up to `most` bytes. Returns how many. */
size_t answer_take_bytes(struct answer *answer, size_t most, void *bytes);
/* Replaces the text; a text longer than `most` is bad. */
void answer_take_text(struct answer *answer, size_t most, struct text *text);
/* The same for bytes that may include NULs. */
void answer_take_raw(struct answer *answer, size_t most, struct text *text);

#endif
