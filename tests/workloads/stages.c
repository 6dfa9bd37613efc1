/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * stages [-N PREFIX] -L LINK
 *
 * Processes that measure how long their threads lived and ran under each of their names, all with
 * PREFIX. LINK is a link to this program: an exec takes its name. One after another:
 *
 *   before   20 processes: each burns 8 ms, executes LINK, and burns 2 ms
 *   old      a process whose first thread waits, while another naps for 300 ms, executes LINK (so that it is
 *            the first from then on), and naps for 200 ms
 *   gone     the same, but the first thread has ended long before
 *   crowd    20 times 8 threads that end at the same time
 *   napper   20 naps of 45 ms
 *
 * Each is a group, which goes by its name, and by `after` from an exec on. Prints lines, to be added up, of
 * times in us:
 *
 *   stage GROUP NAME LIVED RAN      as measured within: there may be more of both,
 *   whole GROUP LIVED RAN           but no more than this of all of a group's names
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "waits.h"

#define THREADS 8
#define ROUNDS 20

static const char *prefix = "", *path;

static void take_name(const char *end)
{
    char name[16];

    snprintf(name, sizeof(name), "%s%s", prefix, end);
    prctl(PR_SET_NAME, name);
}

static void burn(uint64_t us)
{
    uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + us * 1000;

    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
}

static void say(const char *kind, const char *group, const char *name, uint64_t lived, uint64_t ran)
{
    printf("%s %s %s%s%llu %llu\n", kind, group, name, *name ? " " : "", (unsigned long long)lived / 1000,
           (unsigned long long)ran / 1000);
    fflush(stdout);
}

/* Takes real-time priority, to keep the CPU: the parent sees the end before the last switch. */
static void end_at_once(void)
{
    const struct sched_param first = {.sched_priority = 2};

    if (syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &first))
        perror("stages: sched_setscheduler");
    _exit(0);
}

/* ---- An exec ---- */

struct exec {
    const char *group;
    const char *us; /* after the exec: below 100000 it burns them, else it sleeps */
    uint64_t began, made; /* start of the first thread, and of the other (0: none) */
    uint64_t gone;        /* how long the first thread lived, if it ends before the exec, */
    uint64_t went;        /* and when the other thread saw that end */
};

static uint32_t first_lives = 1;

/* Executes LINK with the times so far: go_on() continues the measurement. */
static void execute(const struct exec *exec)
{
    char numbers[3][24];
    const uint64_t now = clock_ns(CLOCK_MONOTONIC);
    const uint64_t values[] = {
        (exec->gone ? exec->gone : now - exec->began) + (exec->made ? now - exec->made : 0),
        clock_ns(CLOCK_THREAD_CPUTIME_ID),
        exec->gone ? now - (exec->went - exec->began) : exec->made,
    };

    for (int i = 0; i < 3; i++)
        snprintf(numbers[i], sizeof(numbers[i]), "%llu", (unsigned long long)values[i]);
    execl(path, path, "-X", exec->group, exec->us, numbers[0], numbers[1], numbers[2],
          (char *)NULL);
    perror("stages: execl");
    _exit(2);
}

/*
 * -X GROUP US LIVED RAN SECOND: main() after the exec. With two threads, `whole` of one of them is
 * from SECOND until now.
 */
static int go_on(char **words)
{
    const uint64_t began = clock_ns(CLOCK_MONOTONIC), ran = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t us = number_of(words[1]);

    const uint64_t second = number_of(words[4]);

    say("stage", words[0], words[0], number_of(words[2]), number_of(words[3]));
    if (second)
        say("whole", words[0], "", began - second, 0);
    if (us < 100000)
        burn(us);
    else
        nap(us);
    say("stage", words[0], "after", clock_ns(CLOCK_MONOTONIC) - began,
        clock_ns(CLOCK_THREAD_CPUTIME_ID) - ran);
    end_at_once();
    return 0;
}

static void burn_and_execute(const char *group)
{
    struct exec exec = {group, "2000", .began = clock_ns(CLOCK_MONOTONIC)};

    burn(8000);
    execute(&exec);
}

static void *nap_and_execute(void *argument)
{
    struct exec *exec = argument;

    if (exec->gone)
        while (__atomic_load_n(&first_lives, __ATOMIC_ACQUIRE))
            futex_wait(&first_lives, 1, NULL);
    exec->went = clock_ns(CLOCK_MONOTONIC);
    nap(300000);
    execute(exec);
    return NULL;
}

static void let_other_execute(const char *group, bool ends)
{
    static struct exec exec;
    pthread_t thread;

    exec = (struct exec){group, "200000", .began = clock_ns(CLOCK_MONOTONIC)};
    exec.made = clock_ns(CLOCK_MONOTONIC);
    exec.gone = ends;
    if (pthread_create(&thread, NULL, nap_and_execute, &exec))
        _exit(2);
    if (ends) {
        nap(100000);
        syscall(SYS_set_tid_address, &first_lives); /* the kernel clears it at this thread's end */
        exec.gone = clock_ns(CLOCK_MONOTONIC) - exec.began;
        pthread_exit(NULL);
    }
    for (;;)
        pause();
}

static void execute_old(const char *group)
{
    let_other_execute(group, false);
}

static void execute_gone(const char *group)
{
    let_other_execute(group, true);
}

/* ---- Without one ---- */

static pthread_barrier_t barrier;
static uint64_t lived, ran;

static void *be_one_of_many(void *unused)
{
    uint64_t began = clock_ns(CLOCK_MONOTONIC);

    (void)unused;
    pthread_barrier_wait(&barrier);
    __atomic_add_fetch(&ran, clock_ns(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&lived, clock_ns(CLOCK_MONOTONIC) - began, __ATOMIC_SEQ_CST);
    return NULL;
}

static void crowd(const char *group)
{
    uint64_t began = clock_ns(CLOCK_MONOTONIC), whole = 0;
    pthread_t threads[THREADS];
    uint64_t made[THREADS];

    for (uint64_t i = 0; i < ROUNDS; i++) {
        pthread_barrier_init(&barrier, NULL, THREADS);
        for (int at = 0; at < THREADS; at++) {
            made[at] = clock_ns(CLOCK_MONOTONIC);
            if (pthread_create(&threads[at], NULL, be_one_of_many, NULL))
                _exit(2);
        }
        for (int at = 0; at < THREADS; at++)
            pthread_join(threads[at], NULL);
        for (int at = 0; at < THREADS; at++)
            whole += clock_ns(CLOCK_MONOTONIC) - made[at];
    }
    say("whole", group, "", whole, 0);
    say("stage", group, group, lived + clock_ns(CLOCK_MONOTONIC) - began, ran + clock_ns(CLOCK_THREAD_CPUTIME_ID));
    end_at_once();
}

static void take_naps(const char *group)
{
    uint64_t began = clock_ns(CLOCK_MONOTONIC);

    for (uint64_t i = 0; i < ROUNDS; i++)
        nap(45000);
    say("stage", group, group, clock_ns(CLOCK_MONOTONIC) - began, clock_ns(CLOCK_THREAD_CPUTIME_ID));
    end_at_once();
}

/* ---- All of them ---- */

/*
 * A child inherits its first name from the parent, which takes it for the fork: the time until the
 * parent has its own name back, in which the child may take its CPU, counts in `whole`.
 */
static void run(const char *name, void (*act)(const char *group))
{
    struct rusage usage;
    uint64_t named = clock_ns(CLOCK_MONOTONIC), named_ran = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    take_name(name);
    uint64_t began = clock_ns(CLOCK_MONOTONIC);
    pid_t child = fork();
    if (!child)
        act(name);
    prctl(PR_SET_NAME, "stages");
    named = clock_ns(CLOCK_MONOTONIC) - named;
    named_ran = clock_ns(CLOCK_THREAD_CPUTIME_ID) - named_ran;
    if (child < 0 || wait4(child, NULL, 0, &usage) != child)
        exit(2);
    uint64_t us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                  (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    say("whole", name, "", clock_ns(CLOCK_MONOTONIC) - began + named, us * 1000 + named_ran);
}

int main(int argc, char **argv)
{
    int option;

    if (argc == 7 && !strcmp(argv[1], "-X"))
        return go_on(argv + 2);
    while ((option = getopt(argc, argv, "N:L:")) != -1) {
        switch (option) {
        case 'N': prefix = optarg; break;
        case 'L': path = optarg; break;
        default: return 2;
        }
    }
    if (!path)
        return 2;
    prctl(PR_SET_NAME, "stages");
    for (uint64_t i = 0; i < ROUNDS; i++)
        run("before", burn_and_execute);
    run("old", execute_old);
    run("gone", execute_gone);
    run("crowd", crowd);
    run("napper", take_naps);
    return 0;
}
