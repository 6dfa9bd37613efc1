/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * crowd [-n THREADS] [-s MILLISECONDS]
 *
 * Each of THREADS threads (12000) sleeps for at least MILLISECONDS (1000), all at the same time.
 * Prints `done CALLS=` with how many slept, or says why there are fewer.
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "word.h"

#define STACK_BYTES 65536

static struct timespec duration;

static APART void *crowd_sleeps(void *unused)
{
    FRAME;
    clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, NULL);
    NO_TAIL_CALL;
    return unused;
}

int main(int argc, char **argv)
{
    uint64_t wanted = 12000, milliseconds = 1000, made = 0;
    pthread_attr_t small;
    int option;

    while ((option = getopt(argc, argv, "n:s:")) != -1) {
        switch (option) {
        case 'n': wanted = number_of(optarg); break;
        case 's': milliseconds = number_of(optarg); break;
        default: return 2;
        }
    }
    duration = (struct timespec){(time_t)(milliseconds / 1000), (long)(milliseconds % 1000 * 1000000)};
    pthread_t *threads = calloc((size_t)wanted, sizeof(*threads));
    begin(NULL);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    while (threads && made < wanted && !pthread_create(&threads[made], &small, crowd_sleeps, NULL))
        made++;
    if (made < wanted) {
        fprintf(stderr, "this machine lets us have %llu threads\n", (unsigned long long)made);
        return 0;
    }
    for (uint64_t i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
    say_done(made);
    return 0;
}
