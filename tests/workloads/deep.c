/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * deep [-t THREADS] [-s MS] [-f FRAMES] [-N COMM] [-w] [-k]
 *
 * Each of THREADS threads, the i-th on the i-th CPU, burns MS milliseconds of its own CPU time in
 * burn(), which also makes one getppid(2), below FRAMES - 1 calls of descend(): the stack has FRAMES
 * frames below a thread's start. Prints `done CALLS=` with the calls of burn(), one for each thread.
 *
 *   -t THREADS        1
 *   -s MS             1000
 *   -f FRAMES         25
 *   -N COMM, -w, -k   as in other workloads
 */
#include <pthread.h>
#include <unistd.h>

#include "arch.h"
#include "word.h"

#define MOST_THREADS 64

struct burner {
    pthread_t thread;
    unsigned index;
    uint64_t made;
};

static uint64_t wanted = 1000000000;
static unsigned frames = 25;
static pthread_barrier_t start;

void burn(struct burner *self);
void descend(struct burner *self, unsigned left);

/* Reading the clock takes far less time than the work in between: samples hit this function. */
APART void burn(struct burner *self)
{
    const uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    FRAME;
    call_kernel(SYS_getppid, 0);
    do {
        for (unsigned i = 0; i < 1000000; i++)
            __asm__ volatile("" ::: "memory");
    } while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin < wanted);
    self->made++;
}

APART void descend(struct burner *self, unsigned left)
{
    FRAME;
    if (left > 1)
        descend(self, left - 1);
    else
        burn(self);
    NO_TAIL_CALL;
}

static void *work(void *argument)
{
    struct burner *self = argument;

    pin_to_cpu(self->index);
    pthread_barrier_wait(&start);
    if (frames > 1)
        descend(self, frames - 1);
    else
        burn(self);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct burner burners[MOST_THREADS];
    unsigned long threads = 1;
    int option;
    uint64_t made = 0;

    while ((option = next_option(argc, argv, "t:s:f:")) != -1) {
        switch (option) {
        case 't': threads = number_of(optarg); break;
        case 's': wanted = (uint64_t)number_of(optarg) * 1000000; break;
        case 'f': frames = (unsigned)number_of(optarg); break;
        default: return 2;
        }
    }
    if (!threads || threads > MOST_THREADS || !frames)
        return 2;
    begin(asked.comm);
    pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
    for (unsigned i = 0; i < threads; i++) {
        burners[i].index = i;
        if (pthread_create(&burners[i].thread, NULL, work, &burners[i]))
            return 2;
    }
    wait_if_asked();
    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(burners[i].thread, NULL);
        made += burners[i].made;
    }
    say_done(made);
    return 0;
}
