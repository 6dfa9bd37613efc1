/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hammer [-t THREADS] [-n STACKS] [-r TIMES] [-v] [-s MS] [-d DIGITS] [-g] [-b] [-c] [-N COMM] [-w] [-k]
 *
 * THREADS threads, pinned to the CPUs in turn so that several share one, call hammered() all at the
 * same time, each through STACKS stacks of its own, TIMES times through each. A stack encodes its
 * number: from the root to the leaf it is DIGITS frames zero() or one(), the binary digits, the
 * highest first. Thread i has the numbers from i * STACKS on.
 * Prints `done CALLS=` with the sum of what the threads counted.
 *
 *   -t THREADS   8
 *   -n STACKS    16; THREADS * STACKS is at most 2 to the power of DIGITS
 *   -r TIMES     10
 *   -v           number N that often and N % 3 times more
 *   -s MS        again and again for MS, whatever TIMES is
 *   -d DIGITS    10
 *   -g           hammered() calls getppid(2), too
 *   -b           and sleeps for a moment
 *   -c           each thread has the current number as its name
 *   -N COMM, -w, -k   as in other workloads
 */
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "arch.h"
#include "word.h"

#define MOST_DIGITS 20
#define MOST_THREADS 64

struct hammerer {
    pthread_t thread;
    unsigned index;
    uint64_t made;
};

static unsigned stacks = 16, times = 10, digits = 10;
static uint64_t last_ns; /* on the monotonic clock; 0: TIMES counts */
static int varies, calls_the_kernel, blocks, has_names;
static pthread_barrier_t start;

static inline __attribute__((always_inline)) long switches_so_far(void)
{
    struct rusage usage;

    call_kernel_all(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0);
    return usage.ru_nvcsw;
}

/*
 * Until the thread has left its CPU: on a slow machine the time can be over before that. Not by the
 * C library, whose functions may hide their callers.
 */
static inline __attribute__((always_inline)) void sleep_a_moment(void)
{
    struct { long seconds, nanoseconds; } moment = {0, 200000};
    long before = switches_so_far();

    do
        call_kernel_all(SYS_nanosleep, (long)&moment, 0, 0, 0, 0, 0);
    while (switches_so_far() == before);
}

void hammered(uint64_t *made);
void zero(unsigned number, unsigned left, uint64_t *made);
void one(unsigned number, unsigned left, uint64_t *made);

APART void hammered(uint64_t *made)
{
    FRAME;
    ++*made;
    if (calls_the_kernel)
        call_kernel(SYS_getppid, 0);
    if (blocks)
        sleep_a_moment();
    NO_TAIL_CALL;
}

static inline __attribute__((always_inline)) void descend(unsigned number, unsigned left,
                                                          uint64_t *made)
{
    if (!left)
        hammered(made);
    else if (number >> (left - 1) & 1)
        one(number, left - 1, made);
    else
        zero(number, left - 1, made);
    NO_TAIL_CALL;
}

APART void zero(unsigned number, unsigned left, uint64_t *made)
{
    FRAME;
    descend(number, left, made);
    __asm__ volatile("nop"); /* not a copy of one() */
}

APART void one(unsigned number, unsigned left, uint64_t *made)
{
    FRAME;
    descend(number, left, made);
}

/* Is it this number's turn in this round? */
static int has_turn(unsigned number, unsigned round)
{
    return last_ns || round < times + (varies ? number % 3 : 0);
}

static void take(struct hammerer *self, unsigned number)
{
    char name[16];

    if (has_names) {
        snprintf(name, sizeof(name), "%u", number);
        prctl(PR_SET_NAME, name);
    }
    descend(number, digits, &self->made);
}

/* The stacks change with every call: a stack that was mixed with another is noticed. */
static void *hammer(void *argument)
{
    struct hammerer *self = argument;

    FRAME;
    pin_to_cpu(self->index % 2);
    pthread_barrier_wait(&start);
    for (unsigned i = 0; last_ns ? clock_ns(CLOCK_MONOTONIC) < last_ns : i < times + 2; i++) {
        for (unsigned number = self->index * stacks; number < (self->index + 1) * stacks; number++)
            if (has_turn(number, i))
                take(self, number);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct hammerer hammerers[MOST_THREADS];
    unsigned threads = 8, ms = 0;
    int option;
    uint64_t made = 0;

    while ((option = next_option(argc, argv, "t:n:r:vs:d:gbc")) != -1) {
        switch (option) {
        case 't': threads = (unsigned)number_of(optarg); break;
        case 'n': stacks = (unsigned)number_of(optarg); break;
        case 'r': times = (unsigned)number_of(optarg); break;
        case 'v': varies = 1; break;
        case 's': ms = (unsigned)number_of(optarg); break;
        case 'd': digits = (unsigned)number_of(optarg); break;
        case 'g': calls_the_kernel = 1; break;
        case 'b': blocks = 1; break;
        case 'c': has_names = 1; break;
        default: return 2;
        }
    }
    if (!threads || threads > MOST_THREADS || digits > MOST_DIGITS ||
        stacks > (1u << digits) / threads)
        return 2;
    begin(asked.comm);
    pthread_barrier_init(&start, NULL, threads + 1);
    for (unsigned i = 0; i < threads; i++) {
        hammerers[i].index = i;
        if (pthread_create(&hammerers[i].thread, NULL, hammer, &hammerers[i]))
            return 2;
    }
    wait_if_asked();
    if (ms)
        last_ns = clock_ns(CLOCK_MONOTONIC) + ms * 1000000ull;
    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(hammerers[i].thread, NULL);
        made += hammerers[i].made;
    }
    say_done(made);
    return 0;
}
