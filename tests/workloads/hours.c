/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hours [-n ROUNDS] [-N PREFIX] [-2] [-f] [-w] [-k]
 *
 * Threads that know where all of their time went: how long they ran, by the clock that the kernel
 * keeps for each; how long they were runnable without a CPU, from /proc/self/task/TID/schedstat;
 * and the rest, which is how long they were blocked. Each is created for this, and ends by itself:
 *
 *   solo          burns 20 ms and naps for 20 ms, ROUNDS times (20)
 *   left, right   burn 20 ms for ROUNDS times, both on the last CPU
 *   brief         burns 5 ms and naps for 5 ms; ROUNDS of them, one after another
 *   child         the same in a process of its own, with -f
 *
 * They burn in burn_here(), and nap in nap_here(). The sums for all threads of a name are printed
 * as `thread NAME THREADS LIVED RAN DELAYED BLOCKED UNBORN UNDEAD SWITCHES`, in us. Their names
 * begin with PREFIX.
 *
 *   UNBORN      they may have lived, and been blocked, for this much more: from before they were created until
 *               they measured, without their running and waiting for a CPU, which is in all figures
 *   UNDEAD      they may have lived, and run, for this much more: from when they measured until they had ended.
 *               By then the CPU is theirs, so that nothing delays them. Only known for `brief`, otherwise 0
 *   SWITCHES    how often they left a CPU
 *
 * And `switch NS` is how long a thread takes to wake another, to wait, and to get the CPU back when that one
 * wakes it and waits, per switch.
 *
 *   -2          only left and right
 *   -w, -k      as in other workloads
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "waits.h"

struct life {
    const char *name;
    int cpu; /* below 0: any */
    uint64_t rounds, us;
    bool naps;
    uint64_t made; /* just before pthread_create() */
    uint64_t ended; /* when the last thread measured its end */
    uint64_t threads, lived, ran, delayed, blocked, unborn, undead; /* ns */
    uint64_t switches;
};

static const char *prefix = "";

void nap_here(uint64_t us);
void burn_here(uint64_t us);

APART void nap_here(uint64_t us)
{
    FRAME;
    nap(us);
    NO_TAIL_CALL;
}

/*
 * Inlined into burn_here(): libc's function and the vDSO may lack frame pointers, which hides
 * their caller.
 */
INLINE uint64_t thread_ns(void)
{
    struct timespec now;

    call_kernel_all(CALL_CLOCK_GETTIME, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0, 0, 0, 0);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

APART void burn_here(uint64_t us)
{
    uint64_t end = thread_ns() + us * 1000;

    FRAME;
    while (thread_ns() < end)
        for (unsigned i = 0; i < 20000; i++)
            __asm__ volatile("" ::: "memory");
}

/*
 * From now on only higher-priority threads can take the CPU from this one; the threads that it
 * creates have normal priority.
 */
static void keep_cpu(int rank)
{
    const struct sched_param first = {.sched_priority = rank};

    if (syscall(SYS_sched_setscheduler, 0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first))
        perror("hours: sched_setscheduler");
}

static void *live(void *argument)
{
    struct life *life = argument;

    if (life->cpu >= 0)
        pin_to_cpu((unsigned)life->cpu);
    int delays = delays_open();
    uint64_t delayed, ran, began;
    do { /* until all three are of one moment */
        delayed = delay_ns(delays);
        ran = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        began = clock_ns(CLOCK_MONOTONIC);
    } while (delay_ns(delays) != delayed);
    for (uint64_t i = 0; i < life->rounds; i++) {
        burn_here(life->us);
        if (life->naps)
            nap_here(life->us);
    }
    keep_cpu(2); /* above the thread that waits for this one's end */
    life->ended = clock_ns(CLOCK_MONOTONIC);
    uint64_t all_ran = clock_ns(CLOCK_THREAD_CPUTIME_ID), all_delayed = delay_ns(delays);
    life->lived += ran + delayed + life->ended - began;
    life->ran += all_ran;
    life->delayed += all_delayed;
    life->blocked += life->ended - began - (all_ran - ran) - (all_delayed - delayed);
    life->unborn += began - life->made - ran - delayed;
    struct rusage usage = {0};
    getrusage(RUSAGE_THREAD, &usage);
    life->switches += (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
    life->threads++;
    close(delays);
    return NULL;
}

static void say_life(const struct life *life)
{
    printf("thread %s %llu %llu %llu %llu %lld %lld %llu %llu\n", life->name, (unsigned long long)life->threads,
           (unsigned long long)life->lived / 1000, (unsigned long long)life->ran / 1000,
           (unsigned long long)life->delayed / 1000, (long long)life->blocked / 1000,
           (long long)life->unborn / 1000, (unsigned long long)life->undead / 1000,
           (unsigned long long)life->switches);
}

/*
 * Renames this thread, so that a new thread inherits the name: it may be preempted before it can
 * rename itself.
 */
static void take_name(const struct life *life)
{
    char name[16];

    snprintf(name, sizeof(name), "%s%s", prefix, life->name);
    prctl(PR_SET_NAME, name);
}

static int start(struct life *life, pthread_t *thread)
{
    take_name(life);
    life->made = clock_ns(CLOCK_MONOTONIC);
    int result = pthread_create(thread, NULL, live, life);
    prctl(PR_SET_NAME, "hours");
    return result;
}

/* One after another, each of them waited for. */
static int run_in_turn(struct life *life, uint64_t threads)
{
    pthread_t thread;

    for (uint64_t i = 0; i < threads; i++) {
        if (start(life, &thread) || pthread_join(thread, NULL))
            return 2;
        life->undead += clock_ns(CLOCK_MONOTONIC) - life->ended;
    }
    return 0;
}

/* ---- How long a switch takes */

#define TURNS 1000

static uint32_t turn; /* even: the first's */

static void *take_turns(void *argument)
{
    uint32_t mine = (uint32_t)(uintptr_t)argument;

    for (uint32_t at = mine; at < 2 * TURNS; at += 2) {
        for (uint32_t now; (now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) != at;)
            futex_wait(&turn, now, NULL);
        __atomic_store_n(&turn, at + 1, __ATOMIC_RELEASE);
        futex_wake(&turn, 1);
    }
    return NULL;
}

/* On one CPU. */
static int measure_switches(int cpu)
{
    pthread_t threads[2];
    cpu_set_t all;

    sched_getaffinity(0, sizeof(all), &all);
    pin_to_cpu((unsigned)cpu);
    uint64_t start = clock_ns(CLOCK_MONOTONIC);
    for (uintptr_t i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, take_turns, (void *)i))
            return 2;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("switch %llu\n", (unsigned long long)(clock_ns(CLOCK_MONOTONIC) - start) / (2 * TURNS));
    sched_setaffinity(0, sizeof(all), &all);
    return 0;
}

static void run_in_child(struct life *life)
{
    take_name(life);
    life->made = clock_ns(CLOCK_MONOTONIC);
    pid_t child = fork();
    if (child)
        prctl(PR_SET_NAME, "hours");
    if (!child) {
        live(life);
        say_life(life);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    int option, first = 0, forks = 0, last = (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
    uint64_t rounds = 20;

    while ((option = next_option(argc, argv, "n:2f")) != -1) {
        switch (option) {
        case 'n': rounds = number_of(optarg); break;
        case '2': first = 1; break;
        case 'f': forks = 1; break;
        default: return 2;
        }
    }
    struct life lives[] = {
        {.name = "solo", .cpu = -1, .rounds = rounds, .us = 20000, .naps = true},
        {.name = "left", .cpu = last, .rounds = rounds, .us = 20000},
        {.name = "right", .cpu = last, .rounds = rounds, .us = 20000},
    };
    struct life brief = {.name = "brief", .cpu = -1, .rounds = 1, .us = 5000, .naps = true};
    struct life child = {.name = "child", .cpu = -1, .rounds = rounds, .us = 20000, .naps = true};
    pthread_t threads[3];

    prefix = asked.comm ?: prefix;
    begin(NULL);
    if (measure_switches(last))
        return 2;
    keep_cpu(1);
    wait_if_asked();
    for (int i = first; i < 3; i++)
        if (start(&lives[i], &threads[i]))
            return 2;
    if (!first && run_in_turn(&brief, rounds))
        return 2;
    if (forks)
        run_in_child(&child);
    for (int i = first; i < 3; i++) {
        pthread_join(threads[i], NULL);
        say_life(&lives[i]);
    }
    say_life(&brief);
    say_done(0);
    return 0;
}
