/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * north, south: [-n N] [-r ROUNDS] [-s SO_FAR] [-t] [-T] [-N COMM] [-w] [-k] [OTHER]
 *
 * Two programs of one source: the same code at the same addresses, but north's functions are called
 * north_outer and north_inner, those of south south_outer and south_inner. Each run calls the inner
 * one N times through the outer one; each call makes one getppid(2). With ROUNDS above 1 the
 * process goes on as the program OTHER, which goes on as this one, and so forth. Prints `count
 * north N` or `count south N` in each round, and at the end `done CALLS=` of all.
 *
 *   -n N         1000
 *   -r ROUNDS    1
 *   -s SO_FAR    calls that were made in rounds before
 *   -t           a thread that is not the first one, which was there all along, goes on as the other
 *                program
 *   -T           likewise, a thread that begins only then
 *   -N COMM, -w, -k   as in other workloads; -N holds for both programs
 */
#include <pthread.h>
#include <unistd.h>

#include "arch.h"
#include "word.h"

#ifndef NAME
#define NAME north
#endif
#define JOIN(name, part) name##part
#define NAMED(name, part) JOIN(name, part)
#define TEXT(name) #name
#define TEXT_OF(name) TEXT(name)

#define OUTER NAMED(NAME, _outer)

DEFINE_CALLS(NAME)

/* OTHER gets this program as its own OTHER. */
enum { THERE = 1, NEW };

struct going {
    const char *self, *other, *n;
    unsigned long rounds;
    uint64_t so_far;
    int by_thread;
    pthread_barrier_t gone; /* with THERE: its turn has come */
};

static void *go_on(void *argument)
{
    struct going *going = argument;
    char rounds_left[24], made[24];
    const char *words[16] = { going->other, "-n", going->n, "-r", rounds_left, "-s", made };
    size_t count = 7;

    if (going->by_thread == THERE)
        pthread_barrier_wait(&going->gone);
    snprintf(rounds_left, sizeof(rounds_left), "%lu", going->rounds - 1);
    snprintf(made, sizeof(made), "%llu", (unsigned long long)going->so_far);
    if (asked.comm) {
        words[count++] = "-N";
        words[count++] = asked.comm;
    }
    if (asked.stays)
        words[count++] = "-k";
    if (going->by_thread)
        words[count++] = going->by_thread == THERE ? "-t" : "-T";
    words[count] = going->self;
    execv(going->other, (char **)(uintptr_t)words);
    die(going->other);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *n = "1000";
    unsigned long rounds = 1, wanted;
    uint64_t made = 0, so_far = 0;
    int option, by_thread = 0;
    pthread_t thread;

    while ((option = next_option(argc, argv, "n:r:s:tT")) != -1) {
        switch (option) {
        case 'n': n = optarg; break;
        case 'r': rounds = number_of(optarg); break;
        case 's': so_far = number_of(optarg); break;
        case 't': by_thread = THERE; break;
        case 'T': by_thread = NEW; break;
        default: return 2;
        }
    }
    begin(asked.comm);
    wanted = number_of(n);
    struct going going = {.self = argv[0], .other = optind < argc ? argv[optind] : "", .n = n,
                          .rounds = rounds, .so_far = so_far, .by_thread = by_thread};
    pthread_barrier_init(&going.gone, NULL, 2);
    if (rounds > 1 && by_thread == THERE && pthread_create(&thread, NULL, go_on, &going))
        return 2;
    wait_if_asked();
    for (unsigned long i = 0; i < wanted; i++)
        OUTER(&made);
    say_count(TEXT_OF(NAME), made);
    going.so_far += made;
    if (rounds > 1 && !by_thread)
        go_on(&going);
    if (rounds > 1 && by_thread == NEW && pthread_create(&thread, NULL, go_on, &going))
        return 2;
    if (rounds > 1 && by_thread == THERE)
        pthread_barrier_wait(&going.gone);
    if (rounds > 1)
        pthread_join(thread, NULL);
    say_done(going.so_far);
    return 0;
}
