/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * north, south: [-n N] [-r ROUNDS] [-s SO_FAR] [-N COMM] [-w] [-k] [OTHER]
 *
 * Two programs of one source: the same code at the same addresses, but north's functions are called
 * north_outer and north_inner, those of south south_outer and south_inner. Each run calls the inner
 * one N times through the outer one; each call makes one getppid(2). With ROUNDS above 1 the process
 * goes on as the program OTHER, which goes on as this one, and so forth.
 * Prints `count north N` or `count south N` in each round, and at the end `done CALLS=` of all.
 *
 *   -n N         1000
 *   -r ROUNDS    1
 *   -s SO_FAR    calls that were made in rounds before
 *   -N COMM      the command name of all
 *   -w           prints `ready` and waits for SIGUSR2 before the first round
 *   -k           waits so once more before the end
 */
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
#define INNER NAMED(NAME, _inner)

void OUTER(uint64_t *made);
void INNER(uint64_t *made);

APART void INNER(uint64_t *made)
{
    FRAME;
    ++*made;
    call_kernel(SYS_getppid, 0);
}

APART void OUTER(uint64_t *made)
{
    FRAME;
    INNER(made);
    NO_TAIL_CALL;
}

/* argv[0] is this program: OTHER gets it as its own OTHER. */
static void go_on(char **argv, const char *other, const char *n, const char *comm, unsigned long rounds,
                  uint64_t so_far, int stays)
{
    char rounds_left[24], made[24];
    const char *words[12] = { other, "-n", n, "-r", rounds_left, "-s", made };
    size_t count = 7;

    snprintf(rounds_left, sizeof(rounds_left), "%lu", rounds - 1);
    snprintf(made, sizeof(made), "%llu", (unsigned long long)so_far);
    if (comm) {
        words[count++] = "-N";
        words[count++] = comm;
    }
    if (stays)
        words[count++] = "-k";
    words[count] = argv[0];
    execv(other, (char **)(uintptr_t)words);
    perror(other);
}

int main(int argc, char **argv)
{
    const char *n = "1000", *comm = NULL;
    unsigned long rounds = 1, wanted;
    uint64_t made = 0, so_far = 0;
    int option, waits = 0, stays = 0;

    while ((option = getopt(argc, argv, "n:r:s:N:wk")) != -1) {
        switch (option) {
        case 'n': n = optarg; break;
        case 'r': rounds = number_of(optarg); break;
        case 's': so_far = number_of(optarg); break;
        case 'N': comm = optarg; break;
        case 'w': waits = 1; break;
        case 'k': stays = 1; break;
        default: return 2;
        }
    }
    begin(comm);
    wanted = number_of(n);
    if (waits)
        say_ready_and_wait();
    for (unsigned long i = 0; i < wanted; i++)
        OUTER(&made);
    say_count(TEXT_OF(NAME), made);
    if (rounds > 1) {
        if (optind < argc)
            go_on(argv, argv[optind], n, comm, rounds, so_far + made, stays);
        return 2;
    }
    say_done(so_far + made);
    if (stays)
        wait_for_word();
    return 0;
}
