/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * cost FILE COMMAND...
 *
 * Runs COMMAND, with signals as a user's shell would leave them, and writes what it took to FILE:
 *
 *     CPU_MS WALL_MS PEAK_KB END_MS
 *
 * CPU_MS covers COMMAND and the children that it waited for. PEAK_KB is the peak resident memory,
 * as /proc shows it when COMMAND ends: newer kernels count it in batches of 128 KB and more per
 * CPU, and ru_maxrss from wait4(2) leaves out what the CPUs have yet to add. END_MS is the time
 * from the first signal that COMMAND got to its end, or 0 without one.
 *
 * SIGINT, SIGTERM and SIGUSR2 are passed on to COMMAND.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct cost {
    struct rusage usage;
    double start, signalled, end; /* ms */
    long peak;                    /* KB */
};

static volatile pid_t child;

static void hand_on(int number)
{
    if (child > 0)
        kill(child, number);
}

static double now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static double milliseconds(struct timeval time)
{
    return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

/* The number after `after` in /proc/PID/NAME, or 0. */
static long number_in(pid_t pid, const char *name, const char *after)
{
    char path[64], line[256];
    long number = 0;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) {
        if (!strncmp(line, after, strlen(after)))
            number = atol(line + strlen(after));
    }
    if (file)
        fclose(file);
    return number;
}

static void take_peak(struct cost *cost)
{
    const long peak = number_in(child, "status", "VmHWM:");
    const long now = number_in(child, "smaps_rollup", "Rss:");

    cost->peak = peak > now ? peak : now;
}

static void run(char **command)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    raise(SIGSTOP);
    execvp(command[0], command);
    _exit(127);
}

/* COMMAND stops when it gets a signal, execs, or ends. Returns its exit status, or 128 + signal. */
static int watch(struct cost *cost)
{
    bool begun = false;
    int status;

    for (;;) {
        if (wait4(child, &status, 0, &cost->usage) < 0) {
            if (errno == EINTR)
                continue;
            return 1;
        }
        if (!WIFSTOPPED(status))
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        int number = status >> 16 ? 0 : WSTOPSIG(status);
        if (!begun) {
            ptrace(PTRACE_SETOPTIONS, child, NULL,
                   PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT);
            begun = true;
            number = 0;
        } else if (status >> 16 == PTRACE_EVENT_EXIT) {
            take_peak(cost);
        } else if (number && number != SIGCHLD && cost->signalled == 0) {
            cost->signalled = now_ms();
        }
        ptrace(PTRACE_CONT, child, NULL, number);
    }
}

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = hand_on, .sa_flags = SA_RESTART};
    struct cost cost = {0};

    if (argc < 3) {
        fprintf(stderr, "usage: cost FILE COMMAND...\n");
        return 2;
    }
    cost.start = now_ms();
    child = fork();
    if (!child)
        run(argv + 2);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    int result = watch(&cost);
    cost.end = now_ms();
    if (result >= 126)
        return result;

    FILE *out = fopen(argv[1], "w");
    if (!out)
        return 1;
    fprintf(out, "%.3f %.3f %ld %.3f\n",
            milliseconds(cost.usage.ru_utime) + milliseconds(cost.usage.ru_stime),
            cost.end - cost.start, cost.peak,
            cost.signalled > 0 ? cost.end - cost.signalled : 0);
    return fclose(out) ? 1 : result;
}
