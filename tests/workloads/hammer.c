/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hammer [-t THREADS] [-n STACKS] [-r TIMES] [-N COMM] [-w] [-k]
 *
 * THREADS threads, pinned to the CPUs in turn so that several share one, call hammered() all at the
 * same time, each through STACKS stacks of its own, TIMES times through each. A stack says its
 * number: from the root to the leaf it is ten frames that are zero() or one(), the binary digits,
 * the greatest first. Thread i has the numbers from i * STACKS on.
 * Prints `done CALLS=` with the sum of what the threads counted.
 *
 *   -t THREADS   8
 *   -n STACKS    16; THREADS * STACKS is at most 1024
 *   -r TIMES     10
 *   -N COMM, -w, -k   as ever
 */
#include <pthread.h>
#include <unistd.h>

#include "word.h"

#define DIGITS 10
#define MOST_THREADS 64

struct hammerer {
    pthread_t thread;
    unsigned index;
    uint64_t made;
};

static unsigned stacks = 16, times = 10;
static pthread_barrier_t start;

void hammered(uint64_t *made);
void zero(unsigned number, unsigned digits, uint64_t *made);
void one(unsigned number, unsigned digits, uint64_t *made);

APART void hammered(uint64_t *made)
{
    FRAME;
    ++*made;
    NO_TAIL_CALL;
}

static inline __attribute__((always_inline)) void descend(unsigned number, unsigned digits,
                                                          uint64_t *made)
{
    if (!digits)
        hammered(made);
    else if (number >> (digits - 1) & 1)
        one(number, digits - 1, made);
    else
        zero(number, digits - 1, made);
    NO_TAIL_CALL;
}

APART void zero(unsigned number, unsigned digits, uint64_t *made)
{
    FRAME;
    descend(number, digits, made);
    __asm__ volatile("nop"); /* no twin of one() */
}

APART void one(unsigned number, unsigned digits, uint64_t *made)
{
    FRAME;
    descend(number, digits, made);
}

/* The stacks change with every call: a stack that was mixed with another cannot stay unseen. */
static void *hammer(void *argument)
{
    struct hammerer *self = argument;

    FRAME;
    pin_to_cpu(self->index % 2);
    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < times; i++) {
        for (unsigned number = 0; number < stacks; number++)
            descend(self->index * stacks + number, DIGITS, &self->made);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct hammerer hammerers[MOST_THREADS];
    unsigned threads = 8;
    int option, waits = 0, stays = 0;
    const char *comm = NULL;
    uint64_t made = 0;

    while ((option = getopt(argc, argv, "t:n:r:N:wk")) != -1) {
        switch (option) {
        case 't': threads = (unsigned)number_of(optarg); break;
        case 'n': stacks = (unsigned)number_of(optarg); break;
        case 'r': times = (unsigned)number_of(optarg); break;
        case 'N': comm = optarg; break;
        case 'w': waits = 1; break;
        case 'k': stays = 1; break;
        default: return 2;
        }
    }
    if (!threads || threads > MOST_THREADS || stacks > (1u << DIGITS) / threads)
        return 2;
    begin(comm);
    pthread_barrier_init(&start, NULL, threads + 1);
    for (unsigned i = 0; i < threads; i++) {
        hammerers[i].index = i;
        if (pthread_create(&hammerers[i].thread, NULL, hammer, &hammerers[i]))
            return 2;
    }
    if (waits)
        say_ready_and_wait();
    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(hammerers[i].thread, NULL);
        made += hammerers[i].made;
    }
    say_done(made);
    if (stays)
        wait_for_word();
    return 0;
}
