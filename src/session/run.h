/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Waiting, as every tracing applet does it: for time, signals, Enter, processes and the reader. */
#ifndef STACKBOX_SESSION_RUN_H
#define STACKBOX_SESSION_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct run_wishes {
    uint64_t duration, interval; /* ns; 0: none */
    const uint32_t *pids;        /* the run ends when the last of these does */
    size_t pid_count;
    bool command; /* there will be one: stdin is its own */
};

enum run_event {
    RUN_WATCHED, /* the descriptor of run_watch() has something to read */
    RUN_KEYS,    /* and that of run_watch_keys() */
    RUN_TICK,   /* the time of run_tick() has passed again */
    RUN_REPORT, /* an interval is over, or SIGUSR1 asked: a report now, and on */
    RUN_END,    /* the last report */
};

struct run {
    struct run_wishes wishes;
    uint64_t start, reports; /* when tracing began; intervals that are over */
    int *processes;          /* a pidfd (5.3) for each pid; below 0: gone, or without pidfds */
    struct pollfd *polled;   /* room for all that is waited for */
    bool by_enter;           /* a console that controls nobody: Enter there ends the run */
    bool watches_reader;     /* stdout is a pipe: the run ends when nobody reads it */
    bool reader_is_gone;
    int watched;             /* below 0: none */
    bool watched_is_ready;
    int keys;                /* likewise: what is typed there is somebody's who asked for it */
    bool keys_are_ready;
    uint64_t tick, next_tick; /* ns; 0: none */
    pid_t command;            /* the run ends when it does; 0: none */
    int command_fd;           /* a pidfd of it, or below 0 */
    int go;                   /* where the command waits to be let go; below 0: not held */
    bool command_went;        /* it was let go */
};

/*
 * Takes the signals over: SIGINT, SIGTERM and SIGHUP end the run (one that was ignored stays so), a
 * second one kills; SIGUSR1 asks for a report; SIGPIPE and SIGXFSZ are ignored, writes say it. Called
 * before the first slow thing. 0, or -ESRCH with the pid that does not exist in *missing.
 */
int run_open(struct run *run, const struct run_wishes *wishes, uint32_t *missing);
void run_close(struct run *run);

/* run_wait() wakes when this descriptor can be read from. Below 0: none. */
void run_watch(struct run *run, int fd);
/* The same for keys, of which Enter is no longer the end. */
void run_watch_keys(struct run *run, int fd);

/* From run_start() on run_wait() also wakes so often (ns). */
void run_tick(struct run *run, uint64_t every);

/*
 * run_start() lets this child go, by a byte written to `go`, and its end ends the run; the end of `go`
 * alone tells the child to end. From now on a signal that ends the run is passed on to it, unless it
 * came from the terminal, which gave it to both. Until run_forget_command(): before it is reaped.
 */
void run_hold_command(struct run *run, pid_t command, int go);
void run_let_command_go(struct run *run, bool to_begin);
void run_forget_command(void);
/* In a child: all signals do what they did when we started. */
void run_give_signals_back(void);

/* The signal that asked for the end, or 0: what takes long looks at it. */
extern volatile sig_atomic_t run_stopped;

/* From here the time counts, and the command begins. */
void run_start(struct run *run);
/* Sleeps until the next thing to do. */
enum run_event run_wait(struct run *run);
/* Seconds since run_start(). */
double run_elapsed(const struct run *run);

#endif
