/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * known [-r FD] [-g FD] WAY NUMBER
 *
 * Does one thing that an applet can report, in a function of its own, and writes its own count to
 * descriptor FD (-r, none): a line with a number, and the most that it can be.
 *
 *   calls N    N calls of called(), each of which makes one getppid(2): N
 *   burns MS   uses MS of its own CPU time in burn_here(): nanoseconds, and how long that took: a
 *              virtual machine's clocks go on while its CPU is another's
 *   naps N     sleeps 20 ms N times in nap_here(): microseconds that it was away
 *   waits N    waits N times in wait_here() for another process, whose name is waker, and which wakes
 *              it in wake_other() 20 ms later: microseconds that it was away
 *
 * With -g it begins once it has read a byte from that descriptor. It needs no /proc, no /dev and no
 * file.
 */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arch.h"
#include "word.h"

#ifndef SYS_getppid
#define SYS_getppid SYS_getpgid
#endif

#define PAUSE 20000000 /* ns */

/*
 * A walk by frame pointers misses the caller of a C library function without them: so the functions
 * to be found make these calls.
 */
static APART void rest(void)
{
    struct timespec pause = { 0, PAUSE };

    FRAME;

    nanosleep(&pause, NULL);
    NO_TAIL_CALL;
}

static APART int put(int to)
{
    FRAME;
    int done = (int)write(to, "", 1);
    NO_TAIL_CALL;
    return done;
}

static APART int get(int from)
{
    char byte;

    FRAME;
    int done = (int)read(from, &byte, 1);
    NO_TAIL_CALL;
    return done;
}

static APART void called(void)
{
    FRAME;
    call_kernel(SYS_getppid, 0);
    NO_TAIL_CALL;
}

static APART uint64_t make_calls(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        called();
    NO_TAIL_CALL;
    return count;
}

static uint64_t most; /* if the result is not an exact number: the most that it can be */

static APART uint64_t burn_here(uint64_t ms)
{
    uint64_t begin = clock_ns(CLOCK_MONOTONIC), start = clock_ns(CLOCK_THREAD_CPUTIME_ID), time;

    FRAME;
    do {
        for (volatile int i = 0; i < 20000; i++) {
        }
        time = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    } while (time < ms * 1000000);
    most = clock_ns(CLOCK_MONOTONIC) - begin;
    return time;
}

static APART void nap_here(void)
{
    FRAME;
    rest();
    NO_TAIL_CALL;
}

static APART uint64_t take_naps(uint64_t count)
{
    uint64_t start = clock_ns(CLOCK_MONOTONIC);

    for (uint64_t i = 0; i < count; i++)
        nap_here();
    NO_TAIL_CALL;
    return (clock_ns(CLOCK_MONOTONIC) - start) / 1000;
}

static APART int wait_here(int from)
{
    FRAME;
    int got = get(from);
    NO_TAIL_CALL;
    return got;
}

static APART int wake_other(int to)
{
    FRAME;
    int woken = put(to);
    NO_TAIL_CALL;
    return woken;
}

static APART void be_the_waker(int from, int to)
{
    prctl(PR_SET_NAME, "waker");
    while (get(from) == 1) {
        rest();
        if (wake_other(to) != 1)
            return;
    }
}

/* Each tells the other when it is ready, so that no wakeup precedes its wait. */
static APART uint64_t wait_for_other(uint64_t count)
{
    uint64_t time = 0;
    int there[2], back[2];

    if (pipe(there) || pipe(back))
        return 0;
    pid_t waker = fork();
    if (!waker) {
        close(there[1]);
        close(back[0]);
        be_the_waker(there[0], back[1]);
        _exit(0);
    }
    for (uint64_t i = 0; i < count && waker > 0; i++) {
        if (put(there[1]) != 1)
            return 0;
        uint64_t start = clock_ns(CLOCK_MONOTONIC);
        wait_here(back[0]);
        time += clock_ns(CLOCK_MONOTONIC) - start;
    }
    close(there[1]);
    waitpid(waker, NULL, 0);
    return time / 1000;
}

static const struct {
    const char *name;
    uint64_t (*run)(uint64_t);
} ways[] = {
    { "calls", make_calls },
    { "burns", burn_here },
    { "naps", take_naps },
    { "waits", wait_for_other },
};

int main(int argc, char **argv)
{
    int result = -1, go = -1, option;

    while ((option = getopt(argc, argv, "r:g:")) != -1) {
        if (option == 'r')
            result = atoi(optarg);
        else
            go = atoi(optarg);
    }
    if (argc != optind + 2)
        return 2;
    if (go >= 0 && get(go) != 1)
        return 2;
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        if (strcmp(ways[i].name, argv[optind]))
            continue;
        uint64_t came_to = ways[i].run((uint64_t)atoll(argv[optind + 1]));
        if (result >= 0)
            dprintf(result, "%llu %llu\n", (unsigned long long)came_to,
                    (unsigned long long)(most ? most : came_to));
        return 0;
    }
    return 2;
}
