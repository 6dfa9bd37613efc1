/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * pingpong ROUNDS
 *
 * Two processes on one CPU pass a byte back and forth through two pipes: each round is two context
 * switches and two wakeups, and nothing else. Prints how long a round took:
 *
 *     us per round: 2.91
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static void stay_on_first_cpu(void)
{
    cpu_set_t allowed, one;
    int cpu = 0;

    if (sched_getaffinity(0, sizeof(allowed), &allowed))
        return;
    while (!CPU_ISSET(cpu, &allowed))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
}

static void answer(int from, int to)
{
    char byte;

    while (read(from, &byte, 1) == 1) {
        if (write(to, &byte, 1) != 1)
            break;
    }
    _exit(0);
}

static double seconds(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    long rounds = argc == 2 ? atol(argv[1]) : 0;
    int there[2], back[2];
    char byte = '.';
    double start;

    if (rounds <= 0 || pipe(there) || pipe(back)) {
        fprintf(stderr, "usage: pingpong ROUNDS\n");
        return 2;
    }
    stay_on_first_cpu();
    pid_t child = fork();
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        answer(there[0], back[1]);
    }
    start = seconds();
    for (long i = 0; i < rounds; i++) {
        if (child < 0 || write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            return 1;
    }
    printf("us per round: %.2f\n", (seconds() - start) * 1e6 / (double)rounds);
    kill(child, SIGKILL);
    return 0;
}
