/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What strangers wrote is read by a process apart. It holds no capability, is nobody where it can
 * be, and where the kernel has seccomp it can do little but read what is open, compute and answer: a
 * file that were to break its reader would have gained nothing. What must be opened meanwhile is
 * opened by a second process, which holds only the capabilities that opening takes, and opens plain
 * files for reading alone. Both end with the call, and with us, whatever ends us.
 */
#ifndef STACKBOX_APART_APART_H
#define STACKBOX_APART_APART_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"
#include "insns/machine.h"

/* Runs in the process apart: what is to come back goes into `answer`. 0 or a negative errno. */
typedef int apart_work(void *context, struct text *answer);

/*
 * Runs in the opener: another way of opening than that of apart_open(). A descriptor, with what there
 * is to tell of it in `told`, or a negative errno.
 */
typedef int apart_opener(unsigned how, const char *root, const char *path, struct text *told);

struct apart_job {
    apart_work *work;
    void *context;
    const struct machine *machine; /* this one: by its system calls the reader is bound */
    const int *keep; /* descriptors that it reads; others are closed to it. Below 0: none */
    size_t keep_count;
    apart_opener *open; /* for apart_ask(); NULL: there is no other way */
    bool aside;         /* it runs beside another one: see apart_begin() */
    bool asks_nothing;  /* it has nothing opened: its opener keeps no descriptor either */
    unsigned seconds;   /* of CPU time, after which the reader is killed; 0: it may take what it takes */
};

/* Either process could not become what it should be: the work was not begun. No other errno is this. */
#define APART_KEEPS_RIGHTS (-EKEYREVOKED)

/*
 * Runs the work on a copy of all there is: what it changes is not seen here. `answer` becomes its
 * answer, which is as trustworthy as what it read. 0; what the work returned; -EBADMSG with *signal
 * what it was ended by (0: by nothing that is known), or where the answer is longer than any;
 * APART_KEEPS_RIGHTS; or the negative errno for which no process could be made.
 */
int apart_run(const struct apart_job *job, struct text *answer, int *signal);

/*
 * The same while we do something else. Of jobs that are `aside` and of those that are not, one of each kind
 * may run at a time.
 */
struct apart_run {
    pid_t pid;          /* 0: it does not run */
    int answers;        /* readable once there is something to take */
    bool aside;
    struct text answer; /* the caller's to free */
    uint64_t cpu_ns;    /* when it has ended: of both processes */
};
/* Begins it. 0 or a negative errno. `answer` is kept, for its memory, and emptied. */
int apart_begin(struct apart_run *run, const struct apart_job *job);
/* Waits until that time (now_ns) at most. -EINPROGRESS: it is not done; else it has ended, as apart_run() tells. */
int apart_take(struct apart_run *run, uint64_t until, int *signal);
/* Ends it, if it runs. */
void apart_stop(struct apart_run *run);

/*
 * Called in the opener and in the reader as the first that they do; and when they have ended, but nobody else
 * can have their pids yet: of the reader in the opener, of the opener (and the reader, where that was killed)
 * by us. NULL: nobody is.
 */
enum apart_role {
    APART_OPENER,
    APART_READER,
    APART_ASIDE, /* beside one of those */
};
typedef void apart_watcher(void *context, bool begins, unsigned role);
void apart_watch(apart_watcher *watcher, void *context);

/* Appends what befell it: "was ended by signal 11: Segmentation fault". */
void apart_explain(int result, int signal, struct text *why);

/*
 * Opens a plain file for reading, by whoever may: below `root`, which no link in `path` leads out of,
 * where that is not NULL. A descriptor, -EINVAL for what is no plain file or lies where programs have
 * none (apart_places.h), or another negative errno.
 */
int apart_open(const char *root, const char *path);

/* Are we the process apart? Else there is nobody to ask. */
bool apart_is_here(void);
/* As the opener of the job does it, by `how` of 1 to 255; the rest as for that. */
int apart_ask(unsigned char how, const char *root, const char *path, struct text *told);

#endif
