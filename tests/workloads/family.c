/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * family [-n N] [-c PROCESSES] [-t ROUNDS] [-m]
 *
 * Processes and threads started in every possible way: each makes N calls of getppid(2), through
 * family_call(). Then PROCESSES processes, two at a time, make one call each. Prints `done CALLS=` for those that ended
 * properly, which is what a tracer that follows all of them counts.
 *
 *   -n N             10
 *   -c PROCESSES     100
 *   -t ROUNDS        so often two threads fork while two others run (1)
 *   -m               a member that was made by an exec: its calls, and no more
 */
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch.h"
#include "word.h"

#define CHAIN 12

static unsigned long n = 10;
static const char *self, *typed;
extern char **environ;

static APART void family_call(void)
{
    call_kernel(SYS_getppid, 0);
}

static void call(void)
{
    for (unsigned long i = 0; i < n; i++)
        family_call();
}

static void become_member(void)
{
    const char *words[] = { self, "-m", "-n", typed, NULL };

    execv(self, (char **)(uintptr_t)words);
    _exit(2);
}

static pid_t started(pid_t pid)
{
    if (pid < 0)
        die("a process");
    return pid;
}

/* 1 if it succeeded */
static unsigned long ended(pid_t pid)
{
    int status;

    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
        die("a member ended ill");
    return 1;
}

static void *thread(void *next)
{
    pthread_t another;

    call();
    if (next && (pthread_create(&another, NULL, thread, NULL) || pthread_join(another, NULL)))
        die("a thread's thread");
    return NULL;
}

static unsigned long threads(void)
{
    pthread_t one;
    int another_one;

    if (pthread_create(&one, NULL, thread, &another_one) || pthread_join(one, NULL))
        die("a thread");
    return 2;
}

static void *thread_that_forks(void *unused)
{
    pid_t pid = started(fork());

    if (!pid) {
        call();
        _exit(0);
    }
    ended(pid);
    call();
    return unused;
}

/* Both forks' parents end soon after them, beside threads that they share a CPU with. */
static unsigned long forks_of_threads(unsigned long rounds)
{
    pthread_t four[4];

    for (unsigned long round = 0; round < rounds; round++) {
        for (int i = 0; i < 4; i++)
            if (pthread_create(&four[i], NULL, i % 2 ? thread_that_forks : thread, NULL))
                die("a thread that forks");
        for (int i = 0; i < 4; i++)
            pthread_join(four[i], NULL);
    }
    return 6 * rounds;
}

/* Each is the parent of the next. */
static unsigned long chain(unsigned left)
{
    pid_t pid;

    if (!left)
        return 0;
    pid = started(fork());
    if (!pid) {
        call();
        chain(left - 1);
        _exit(0);
    }
    return ended(pid) + left - 1;
}

static unsigned long by_vfork(void)
{
    pid_t pid = started(vfork());

    if (!pid)
        become_member();
    return ended(pid);
}

static unsigned long by_spawn(void)
{
    const char *words[] = { self, "-m", "-n", typed, NULL };
    pid_t pid;

    if (posix_spawn(&pid, self, NULL, NULL, (char **)(uintptr_t)words, environ))
        die("posix_spawn");
    return ended(pid);
}

static void *thread_that_execs(void *unused)
{
    (void)unused;
    call();
    become_member();
    return NULL;
}

/* A thread that is not the first one becomes another program; it and the program call. */
static unsigned long by_thread(int first_ends)
{
    pthread_t one;
    pid_t pid = started(fork());

    if (!pid) {
        if (pthread_create(&one, NULL, thread_that_execs, NULL))
            _exit(2);
        if (first_ends)
            pthread_exit(NULL);
        for (;;)
            pause();
    }
    return 2 * ended(pid);
}

/* An orphan in a session of its own, which begins when its parent is gone. */
static unsigned long daemon_of_ours(void)
{
    int gone[2], done[2];
    char byte;
    pid_t pid;

    if (pipe(gone) || pipe(done))
        die("pipe");
    pid = started(fork());
    if (!pid) {
        close(done[0]);
        setsid();
        if (started(fork()))
            _exit(0);
        close(gone[1]);
        if (read(gone[0], &byte, 1))
            _exit(2);
        call();
        _exit(write(done[1], "", 1) != 1);
    }
    ended(pid);
    close(gone[0]);
    close(gone[1]);
    close(done[1]);
    if (read(done[0], &byte, 1) != 1)
        die("the daemon ended ill");
    close(done[0]);
    return 1;
}

/* As pid 1, if that is allowed. */
static unsigned long in_namespace(void)
{
    pid_t pid, outer = started(fork());

    if (outer) {
        int status;
        if (waitpid(outer, &status, 0) != outer || !WIFEXITED(status) || WEXITSTATUS(status) > 1)
            die("a member in a namespace ended ill");
        return !WEXITSTATUS(status);
    }
    if (unshare(CLONE_NEWPID))
        _exit(1);
    pid = started(fork());
    if (!pid) {
        call();
        _exit(0);
    }
    ended(pid);
    _exit(0);
}

static void run_briefly(void)
{
    family_call();
    _exit(0);
}

static uint64_t brief(unsigned long processes)
{
    uint64_t made = 0;

    for (unsigned long i = 0; i < processes; i += 2) {
        pid_t one = started(fork()), other;
        if (!one)
            run_briefly();
        other = started(fork());
        if (!other)
            run_briefly();
        made += ended(one) + ended(other);
    }
    return made;
}

int main(int argc, char **argv)
{
    unsigned long processes = 100, rounds = 1;
    uint64_t members = 1;
    int option, member = 0;

    self = argv[0];
    typed = "10";
    while ((option = getopt(argc, argv, "n:c:t:m")) != -1) {
        switch (option) {
        case 'n': n = number_of(typed = optarg); break;
        case 'c': processes = number_of(optarg); break;
        case 't': rounds = number_of(optarg); break;
        case 'm': member = 1; break;
        default: return 2;
        }
    }
    call();
    if (member)
        return 0;
    begin(NULL);
    members += threads() + forks_of_threads(rounds) + chain(CHAIN) + by_vfork() + by_spawn() + by_thread(0) + by_thread(1) +
               daemon_of_ours() + in_namespace();
    say_done(members * n + brief(processes));
    return 0;
}
