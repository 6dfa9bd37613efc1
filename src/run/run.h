/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Waits, for every tracing applet, for time, signals, Enter, processes and the reader of stdout. */
#ifndef STACKBOX_RUN_RUN_H
#define STACKBOX_RUN_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct run_config {
    uint64_t duration, interval; /* ns; 0: none */
    const uint32_t *pids;        /* the run ends when the last of these does */
    size_t pid_count;
    /* Called when none of these is left: do they live on under another number? Or NULL. */
    bool (*live_on)(const void *context);
    const void *context;
    bool command; /* there will be one: stdin is the command's */
};

enum run_event {
    RUN_WATCHED, /* there is something to read */
    RUN_KEYS,
    RUN_TICK,    /* run.tick has passed again */
    RUN_REPORT,  /* an interval is over, or SIGUSR1 asked: report now and go on */
    RUN_END,     /* the last report */
};

struct run {
    struct run_config config;
    uint64_t start, reports; /* when tracing began; intervals that are over */
    struct pollfd *polled;   /* everything waited for */
    struct pollfd *processes; /* of these: a pidfd (5.3) per pid; below 0: gone, or no pidfds */
    bool by_enter;           /* a console that controls no process: Enter there ends the run */
    bool watches_reader;     /* stdout is a pipe: the run ends when its reader is gone */
    bool reader_is_gone;
    /*
     * Set by the caller after run_open(): descriptors for which run_wait() returns when they are
     * readable, below 0: none, and how often it returns besides (ns), 0: never.
     */
    int watched;
    int keys;   /* typed during --live; Enter does not end the run then */
    uint64_t tick;
    bool watched_is_ready, keys_are_ready;
    uint64_t next_tick;
    pid_t command;            /* the run ends when it does; 0: none */
    int command_fd;           /* its pidfd, or below 0 */
    int go;                   /* releases the command; below 0: not held */
    bool command_went;        /* it was released */
};

/*
 * Takes the signals over: SIGINT, SIGTERM and SIGHUP end the run (unless ignored before). A further
 * one kills us, unless it comes within a second or is the same one from the same process. SIGUSR1
 * asks for a report; SIGPIPE and SIGXFSZ are ignored, as writes report them. Called before anything
 * slow. 0, or -ESRCH with the pid that does not exist in *missing.
 */
int run_open(struct run *run, const struct run_config *config, uint32_t *missing);
void run_close(struct run *run);

/*
 * run_start() releases this child by writing a byte to `go`, and its end ends the run; closing `go`
 * without that tells the child to exit. From now on, a signal that ends the run is passed on to the
 * child, unless the terminal sent it, and so to both. The caller ends this by run_forget_command(),
 * before it reaps the child.
 */
void run_hold_command(struct run *run, pid_t command, int go);
void run_let_command_go(struct run *run, bool to_begin);
void run_forget_command(void);
/* In a child: restores all signals as they were when we started. */
void run_give_signals_back(void);

/* The signal that asked to end, or 0: slow work checks it. */
extern volatile sig_atomic_t run_stopped;

/* The time counts from here, and the command begins. */
void run_start(struct run *run);
/* Sleeps until there is something to do. */
enum run_event run_wait(struct run *run);
/* Seconds since run_start(). */
double run_elapsed(const struct run *run);

#endif
