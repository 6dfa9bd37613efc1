/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * guises [-w] [-k] [-n N] [-r ROUNDS]
 *
 * Threads that change their names and real users while they run: in each round each thread takes each
 * of the names red, green and blue, as each of the users 4242 and 4243, and as such makes N calls of
 * getppid(2), 2 N or 3 N by the name, and sleeps 4 ms. Then a child becomes user 4244, executes this
 * program, and makes 7 N calls as guise/4244. Prints what was counted, in all rounds of all threads:
 *
 *     count NAME/UID CALLS
 *     slept NAME/UID MICROSECONDS         from before the sleeps until after them
 *     least NAME/UID MICROSECONDS         from after the change to this name and user until before the next
 *     most NAME/UID MICROSECONDS          from before that change until after the next
 *
 * The effective user stays root, as in set-user-ID programs.
 *
 *   -w, -k       as in other workloads
 *   -x N         what the child executes
 */
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

#include "arch.h"
#include "word.h"

#ifdef SYS_setresuid32
#define SET_USERS SYS_setresuid32
#else
#define SET_USERS SYS_setresuid
#endif
#ifdef SYS_getppid
#define CALL SYS_getppid
#else
#define CALL SYS_getpgid
#endif

#define SLEEP_NS 4000000
#define NAMES 3
#define USERS 2
#define THREADS 3

static const char *const names[NAMES] = {"red", "green", "blue"};
static const unsigned users[USERS] = {4242, 4243};
static unsigned long n = 100, rounds = 3;

struct guise {
    uint64_t calls, slept, least, most;
};

struct worker {
    pthread_t thread;
    struct guise guises[NAMES][USERS];
};

/* Of this thread alone, unlike libc's. */
static void become(unsigned user)
{
    if (syscall(SET_USERS, user, 0, 0))
        die("setresuid");
}

static uint64_t make_calls(uint64_t wanted)
{
    uint64_t made = 0;

    for (; made < wanted; made++)
        call_kernel(CALL, 0);
    return made;
}

/* Its change began at `before` and was done at `after`; the next began at `end`, and is done now. */
static void add_time(struct guise *guise, uint64_t before, uint64_t after, uint64_t end)
{
    if (!guise)
        return;
    guise->least += end - after;
    guise->most += clock_ns(CLOCK_MONOTONIC) - before;
}

static void *work(void *argument)
{
    const struct timespec pause = {0, SLEEP_NS};
    struct worker *worker = argument;
    struct guise *last = NULL;
    uint64_t before = 0, after = 0;

    for (unsigned long round = 0; round < rounds; round++)
        for (unsigned i = 0; i < NAMES * USERS; i++) {
            struct guise *guise = &worker->guises[i / USERS][i % USERS];
            uint64_t begin = clock_ns(CLOCK_MONOTONIC);
            become(users[i % USERS]);
            prctl(PR_SET_NAME, names[i / USERS]);
            add_time(last, before, after, begin);
            last = guise;
            before = begin;
            after = clock_ns(CLOCK_MONOTONIC);
            guise->calls += make_calls(n * (i / USERS + 1));
            begin = clock_ns(CLOCK_MONOTONIC);
            nanosleep(&pause, NULL);
            guise->slept += clock_ns(CLOCK_MONOTONIC) - begin;
        }
    uint64_t end = clock_ns(CLOCK_MONOTONIC);
    prctl(PR_SET_NAME, "guises");
    become(0);
    add_time(last, before, after, end);
    return NULL;
}

static void print_all(const struct worker *workers)
{
    for (unsigned i = 0; i < NAMES * USERS; i++) {
        struct guise sum = {0, 0, 0, 0};
        for (unsigned long thread = 0; thread < THREADS; thread++) {
            const struct guise *guise = &workers[thread].guises[i / USERS][i % USERS];
            sum.calls += guise->calls;
            sum.slept += guise->slept;
            sum.least += guise->least;
            sum.most += guise->most;
        }
        printf("count %s/%u %llu\n", names[i / USERS], users[i % USERS], (unsigned long long)sum.calls);
        printf("slept %s/%u %llu\n", names[i / USERS], users[i % USERS], (unsigned long long)sum.slept / 1000);
        printf("least %s/%u %llu\n", names[i / USERS], users[i % USERS], (unsigned long long)sum.least / 1000);
        printf("most %s/%u %llu\n", names[i / USERS], users[i % USERS], (unsigned long long)sum.most / 1000);
    }
    fflush(stdout);
}

static void execute(const char *program)
{
    char count[24];
    pid_t child = fork();

    snprintf(count, sizeof(count), "%lu", 7 * n);
    if (!child) {
        become(4244);
        execl(program, program, "-x", count, (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS];
    unsigned long executed = 0;
    int option;

    while ((option = next_option(argc, argv, "n:r:x:")) != -1)
        switch (option) {
        case 'n': n = number_of(optarg); break;
        case 'r': rounds = number_of(optarg); break;
        case 'x': executed = number_of(optarg); break;
        default: return 2;
        }
    if (executed) {
        prctl(PR_SET_NAME, "guise");
        printf("count guise/4244 %llu\n", (unsigned long long)make_calls(executed));
        return 0;
    }
    begin(NULL);
    wait_if_asked();
    for (unsigned long i = 0; i < THREADS; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    for (unsigned long i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    execute(argv[0]);
    print_all(workers);
    say_done(0);
    return 0;
}
