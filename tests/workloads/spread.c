/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * spread [-n STACKS] [-r TIMES] [-w] [-k]
 *
 * Calls getppid(2) TIMES from each of STACKS different user stacks, and prints `done CALLS=` with how
 * often it did. A stack is the binary digits of its number: one of two functions for each.
 *
 *   -n STACKS    1000, at most 65536
 *   -r TIMES     10
 *   -w           prints `ready` and waits for SIGUSR2 before the calls
 *   -k           waits again before the end
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arch.h"

#define DIGITS 16

static uint64_t made;
static unsigned times = 10;

/* Each call returns to a different address: that makes the stacks different. */
static __attribute__((noinline)) void descend(unsigned number, unsigned digits)
{
    if (!digits) {
        for (unsigned i = 0; i < times; i++, made++)
            call_kernel(SYS_getppid, 0);
    } else if (number & 1) {
        descend(number >> 1, digits - 1);
        __asm__ volatile("" ::: "memory"); /* no tail call */
    } else {
        descend(number >> 1, digits - 1);
        __asm__ volatile("nop" ::: "memory"); /* nor one merged call */
    }
}

static void wait_for_signal(void)
{
    sigset_t set;
    int signal;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigwait(&set, &signal);
}

int main(int argc, char **argv)
{
    unsigned stacks = 1000;
    int waits = 0, stays = 0, option;
    sigset_t set;

    while ((option = getopt(argc, argv, "n:r:wk")) != -1) {
        switch (option) {
        case 'n': stacks = (unsigned)strtoul(optarg, NULL, 10); break;
        case 'r': times = (unsigned)strtoul(optarg, NULL, 10); break;
        case 'w': waits = 1; break;
        case 'k': stays = 1; break;
        default: return 2;
        }
    }
    if (stacks > 1u << DIGITS)
        return 2;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (waits) {
        printf("ready\n");
        fflush(stdout);
        wait_for_signal();
    }
    for (unsigned i = 0; i < stacks; i++)
        descend(i, DIGITS);
    printf("done CALLS=%llu\n", (unsigned long long)made);
    fflush(stdout);
    if (stays)
        wait_for_signal();
    return 0;
}
