/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * ends [-c PROCESSES] [-i I]
 *
 * Starts PROCESSES processes (10000) that end at once, one after another, on the I-th CPU (0).
 *
 * ends -o [-n N] [-N COMM] [-w] [-k]
 *
 * Its first thread ends. Then another calls ends_inner() N times (1000) through thread_b >
 * ends_outer; each call makes one getppid(2). Prints `done CALLS=`.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch.h"
#include "word.h"

static unsigned long n = 1000;
static pthread_t first;

void *thread_b(void *unused);

DEFINE_CALLS(ends)

APART void *thread_b(void *unused)
{
    uint64_t made = 0;

    FRAME;
    pthread_join(first, NULL);
    wait_if_asked();
    while (made < n)
        ends_outer(&made);
    say_done(made);
    exit(0);
    return unused;
}

/* A child of vfork shares its parent's memory: so it does nothing before it ends. */
static APART void start_and_end(void)
{
    int status;
    pid_t child = vfork();

    if (!child)
        _exit(0);
    if (child < 0 || waitpid(child, &status, 0) != child)
        die("vfork");
}

int main(int argc, char **argv)
{
    unsigned long processes = 10000, cpu = 0;
    int option, outlives = 0;
    pthread_t other;

    while ((option = next_option(argc, argv, "c:i:on:")) != -1) {
        switch (option) {
        case 'c': processes = number_of(optarg); break;
        case 'i': cpu = number_of(optarg); break;
        case 'o': outlives = 1; break;
        case 'n': n = number_of(optarg); break;
        default: return 2;
        }
    }
    begin(asked.comm);
    if (!outlives) {
        pin_to_cpu((unsigned)cpu);
        while (processes--)
            start_and_end();
        say_done(0);
        return 0;
    }
    first = pthread_self();
    if (pthread_create(&other, NULL, thread_b, NULL))
        return 2;
    pthread_exit(NULL);
}
