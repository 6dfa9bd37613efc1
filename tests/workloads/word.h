/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* How a traced program waits for its test, and small helpers for all of them. */
#ifndef STACKBOX_WORKLOADS_WORD_H
#define STACKBOX_WORKLOADS_WORD_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "cpus.h"

/* Neither inlined nor cloned: each call enters the function at its first instruction. */
#define APART __attribute__((noinline))
/*
 * First in a function: makes even a leaf set up a frame pointer, before anything else. Flavours
 * without frame pointers define it as nothing.
 */
#if defined(FRAME)
#elif defined(__mips__) /* system calls do not save $fp there: tables then find no caller */
#define FRAME __asm__ volatile("" ::: "memory")
#else
#define FRAME __asm__ volatile("" ::"r"(__builtin_frame_address(0)) : "memory")
#endif
/* After a call: then it is not a tail call, and the caller stays on the stack. */
#define NO_TAIL_CALL __asm__ volatile("" ::: "memory")

/*
 * NAME_outer(), which calls NAME_inner(), which counts the call and makes one getppid(2): tests look for
 * both names. With arch.h.
 */
#define DEFINE_CALLS(name) DEFINE_CALLS_OF(name)
#define DEFINE_CALLS_OF(name)               \
    void name##_inner(uint64_t *made);      \
    void name##_outer(uint64_t *made);      \
    APART void name##_inner(uint64_t *made) \
    {                                       \
        FRAME;                              \
        ++*made;                            \
        call_kernel(SYS_getppid, 0);        \
    }                                       \
    APART void name##_outer(uint64_t *made) \
    {                                       \
        FRAME;                              \
        name##_inner(made);                 \
        NO_TAIL_CALL;                       \
    }

/*
 * What most workloads can be asked for: -N COMM is the command name, -w prints `ready` and waits for
 * SIGUSR2 before the calls, -k waits again after `done`, so that the process can still be looked at.
 */
static struct {
    const char *comm;
    int waits, stays;
} asked;

/* getopt(3) for a workload's OWN options; it takes those above itself. */
static inline int next_option(int argc, char **argv, const char *own)
{
    char all[32];
    int option;

    snprintf(all, sizeof(all), "%sN:wk", own);
    while ((option = getopt(argc, argv, all)) != -1) {
        switch (option) {
        case 'N': asked.comm = optarg; break;
        case 'w': asked.waits = 1; break;
        case 'k': asked.stays = 1; break;
        default: return option;
        }
    }
    return -1;
}

/*
 * Called before the first thread: SIGUSR2 is kept for wait_for_word, lines are printed as they
 * come.
 */
static inline void begin(const char *comm)
{
    sigset_t set;

    setvbuf(stdout, NULL, _IOLBF, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (comm)
        prctl(PR_SET_NAME, comm);
}

static inline void wait_for_word(void)
{
    sigset_t set;
    int signal;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    while (sigwait(&set, &signal)) {
    }
}

static inline void wait_if_asked(void)
{
    if (!asked.waits)
        return;
    printf("ready\n");
    wait_for_word();
}

/* Tests wait for `done`: everything else must be printed before it. */
static inline void say_done(uint64_t calls)
{
    printf("done CALLS=%llu\n", (unsigned long long)calls);
    if (asked.stays)
        wait_for_word();
}

static inline void say_count(const char *name, uint64_t calls)
{
    printf("count %s %llu\n", name, (unsigned long long)calls);
}

static inline void die(const char *what)
{
    perror(what);
    exit(2);
}

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline unsigned long number_of(const char *text)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (end == text || *end) {
        fprintf(stderr, "not a number: %s\n", text);
        exit(2);
    }
    return value;
}

#endif
