/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * turns [-t THREADS] [-n N] [-r] [-N COMM] [-w] [-k]
 *
 * N turns, one after the other, each by the next of THREADS threads, which are pinned to the CPUs in
 * turn: no turn begins before the previous one has ended, on whichever CPU. A turn is a call
 * of turned(), which makes one getppid system call. Its stack encodes its number: from the root to the
 * leaf it is ten frames zero() or one(), the binary digits of the number modulo 1024, the highest
 * first.
 * Prints `done CALLS=` with the turns made, and before that `count zero` and `count one` with the
 * calls of each.
 *
 *   -t THREADS   4
 *   -n N         1000
 *   -r           each by the name of its last digit, zero or one, after a pause
 *   -N COMM, -w, -k   as in other workloads
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "arch.h"
#include "word.h"

#ifndef SYS_getppid
#define SYS_getppid SYS_getpgid
#endif

#define DIGITS 10
#define MOST_THREADS 64

static atomic_ulong turn;
static unsigned long turns = 1000;
static unsigned threads = 4;
static int renames;
static uint64_t made, zeros, ones; /* by the thread whose turn it is */

void turned(void);
void zero(unsigned long number, unsigned digits);
void one(unsigned long number, unsigned digits);

APART void turned(void)
{
    FRAME;
    call_kernel(SYS_getppid, 0);
    made++;
    NO_TAIL_CALL;
}

static inline __attribute__((always_inline)) void descend(unsigned long number, unsigned digits)
{
    if (!digits)
        turned();
    else if (number >> (digits - 1) & 1)
        one(number, digits - 1);
    else
        zero(number, digits - 1);
    NO_TAIL_CALL;
}

APART void zero(unsigned long number, unsigned digits)
{
    FRAME;
    zeros++;
    descend(number, digits);
}

APART void one(unsigned long number, unsigned digits)
{
    FRAME;
    ones++;
    descend(number, digits);
}

static void *take_turns(void *argument)
{
    unsigned index = *(unsigned *)argument;
    unsigned long mine = index;

    FRAME;
    pin_to_cpu(index);
    while (mine < turns) {
        if (atomic_load(&turn) != mine) {
            sched_yield();
            continue;
        }
        if (renames) {
            usleep(50);
            prctl(PR_SET_NAME, mine & 1 ? "one" : "zero");
        }
        descend(mine, DIGITS);
        atomic_store(&turn, mine + 1);
        mine += threads;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static unsigned indices[MOST_THREADS];
    static pthread_t ids[MOST_THREADS];
    int option;

    while ((option = next_option(argc, argv, "t:n:r")) != -1) {
        switch (option) {
        case 't': threads = (unsigned)number_of(optarg); break;
        case 'n': turns = number_of(optarg); break;
        case 'r': renames = 1; break;
        default: return 2;
        }
    }
    if (!threads || threads > MOST_THREADS)
        return 2;
    begin(asked.comm);
    wait_if_asked();
    for (unsigned i = 0; i < threads; i++) {
        indices[i] = i;
        if (pthread_create(&ids[i], NULL, take_turns, &indices[i]))
            return 2;
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    say_count("zero", zeros);
    say_count("one", ones);
    say_done(made);
    return 0;
}
