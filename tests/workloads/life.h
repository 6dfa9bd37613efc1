/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The contract of life.c and judge.c: the plan that a seed draws, and the log, a file that all
 * processes of a life map. What they have written survives even if they are killed.
 */
#ifndef STACKBOX_WORKLOADS_LIFE_H
#define STACKBOX_WORKLOADS_LIFE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif
#ifdef SYS_futex
#define CALL_FUTEX SYS_futex
#else
#define CALL_FUTEX SYS_futex_time64
#endif
#define MOST_PARTS 4096
#define MOST_STEPS 32
#define MOST_DEEP 101 /* nested calls of life_deep() */

/* ---- dice: a seed draws the same numbers on every machine */

struct dice {
    uint64_t state;
};

static inline uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

static inline uint64_t roll(struct dice *dice)
{
    return mix(dice->state += 0x9e3779b97f4a7c15u);
}

/* least to most */
static inline unsigned between(struct dice *dice, unsigned least, unsigned most)
{
    return least + (unsigned)(roll(dice) % (most - least + 1));
}

static inline int one_in(struct dice *dice, unsigned n)
{
    return roll(dice) % n == 0;
}

/* ---- the plan */

enum step_kind {
    THREADS,        /* threads of the first process */
    FORK,           /* a chain of children */
    FORKING_THREADS, /* threads that fork children */
    VFORK,          /* calls between vfork and exec */
    SPAWN,          /* posix_spawn */
    EXEC,           /* execve(2) by the first thread */
    THREAD_EXEC,    /* by another thread, the first still alive */
    LAST_EXEC,      /* by another thread, after the first has ended */
    LEADER_GONE,    /* the first thread ends, others go on */
    SIGNALS,        /* handlers that call */
    STOPPED,        /* SIGSTOP, SIGCONT */
    KILLED,         /* SIGKILL at a random moment */
    SAME_PID,       /* two processes, one after another, with one pid */
    PID_NAMESPACE,
    MOUNT_NAMESPACE,
    TIME_NAMESPACE,
    PINNED,         /* to one CPU after another */
    SETUID,         /* as another user, which may execute a program */
    LOADS,          /* dlopen and dlclose */
    DELETED,        /* its program is deleted, or replaced by another */
    BRIEF,          /* many short processes */
    DEEP,           /* calls nested deeper than uretprobes are tracked */
    TURNS,          /* processes that wake each other */
    TURNING_THREADS,
    DAEMON,         /* an orphan in a session of its own */
    SAME_PID_LAST,  /* the pid of a process whose first thread had ended is reused */
    CPUS,           /* a CPU goes off and on */
    STEP_KINDS
};

static const char *const step_names[STEP_KINDS] = {
    "threads", "fork", "forking-threads", "vfork", "spawn", "exec", "thread-exec", "last-exec", "leader-gone",
    "signals", "stopped", "killed", "same-pid", "pid-namespace", "mount-namespace", "time-namespace", "pinned",
    "setuid", "loads", "deleted", "brief", "deep", "turns", "turning-threads", "daemon", "same-pid-last", "cpus",
};

struct step {
    enum step_kind kind;
    int stands;     /* begins before tracing, and waits for the go-ahead */
    int by_thread;  /* started by a thread other than the first */
    unsigned delay; /* microseconds after the step before */
    unsigned size;
    uint64_t seed;
};

/* Each step has a seed of its own, so it stays the same when other steps are left out. */
static inline unsigned draw_plan(uint64_t seed, struct step *steps)
{
    struct dice dice = {mix(seed ^ 0x11fe)};
    unsigned count = between(&dice, 3, 12);

    for (unsigned i = 0; i < count; i++) {
        struct dice its = {mix(seed * MOST_STEPS + i)};
        steps[i].kind = (enum step_kind)between(&its, 0, STEP_KINDS - 1);
        steps[i].stands = one_in(&its, 3);
        steps[i].by_thread = one_in(&its, 4);
        steps[i].delay = one_in(&its, 3) ? 0 : between(&its, 0, 20000);
        steps[i].size = between(&its, 1, 4);
        steps[i].seed = roll(&its);
    }
    return count;
}

/* Is `step` in a list such as "1,4,7"? A NULL list has every step. */
static inline int is_chosen(const char *list, unsigned step)
{
    for (const char *at = list; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : "") {
        if ((unsigned)strtoul(at, NULL, 10) == step)
            return 1;
    }
    return !list;
}

/* ---- the log */

enum { OF_ALPHA, OF_DEEP, OF_GETPPID, COUNTED };
enum { PROGRAM_LIFE, PROGRAM_COPY, PROGRAM_LOADS }; /* probes of life are not in COPY */
enum { BEGINS, READY, GOES, IS_OVER };

/* Sums of stretches of time, in ns, and their bounds. `since`: start of the current one, or 0. */
struct stretches {
    uint64_t number, least, most, since;
};

/*
 * A thread, as long as it has one name and one program. All times are CLOCK_MONOTONIC of the
 * initial time namespace, in nanoseconds; pids are those of the mounted /proc.
 */
struct part {
    uint32_t used;
    uint32_t step;
    int32_t pid, tid;
    uint32_t process, parent;   /* serial numbers: a pid may be reused */
    uint32_t follows;           /* 1 + the part that this thread was before */
    uint32_t program, image;    /* image: index of the first part since the exec */
    uint32_t stood;             /* it began before the go-ahead */
    uint32_t ended;             /* by itself: it has done all that it began */
    char name[16];
    uint64_t born_after, first; /* it began between these */
    uint64_t last, gone_before; /* and ended between these; gone_before 0: its end was not seen */
    uint64_t begun[COUNTED], done[COUNTED];
    struct stretches naps, waits, spins;
    struct stretches woken;     /* waits until the wakeup: the thread may run much later */
    uint32_t waker;             /* the process that ends its waits */
    uint64_t cpu, delay;        /* ns on the CPU and on the run queue, as of `last` */
};

struct life {
    uint32_t state, ready, parts, processes;
    int32_t first_pid;
    uint64_t longest_gap;       /* ns for which a runnable thread did not run */
    uint64_t steal_begin, steal_end; /* steal time, ns; both 0: none reported */
    uint64_t cpus_came_since, cpus_came_until; /* when CPUs came online; 0: none did */
    char trouble[200];
    struct part part[MOST_PARTS];
};

static inline struct life *map_life(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    void *life = MAP_FAILED;

    fchmod(fd, 0666); /* processes of other users write into it, too */
    if (fd >= 0 && !ftruncate(fd, sizeof(struct life)))
        life = mmap(NULL, sizeof(struct life), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return life == MAP_FAILED ? NULL : life;
}

/* How far CLOCK_MONOTONIC of this time namespace is ahead, in ns. */
static int64_t clock_offset;

static inline void learn_clock_offset(void)
{
    FILE *file = fopen("/proc/self/timens_offsets", "re");
    char name[32];
    long long seconds, nanoseconds;

    clock_offset = 0;
    while (file && fscanf(file, "%31s %lld %lld", name, &seconds, &nanoseconds) == 3) {
        if (!strcmp(name, "monotonic") || !strcmp(name, "1"))
            clock_offset = seconds * 1000000000 + nanoseconds;
    }
    if (file)
        fclose(file);
}

static inline uint64_t clock_now(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t now(void)
{
    return clock_now(CLOCK_MONOTONIC) - (uint64_t)clock_offset;
}

#endif
