/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sleeps [-n N] [-u US] [-b US] [-o WAY[,WAY]] [-c] [-N PREFIX] [-w] [-k]
 *
 * Threads that are blocked N times for about US microseconds, each in its own way and in functions
 * of its own, WAY_outer > WAY_inner, called by sleeper(). Each measures for how long. At the end it
 * prints for each, with times in microseconds:
 *
 *     thread NAME TID WAY WAITS TIME LONG_WAITS LONG_TIME LONGEST DOUBT MORE
 *
 * LONG_ are those longer than the bound of -b; the true TIME may be up to DOUBT less, and up to MORE
 * more. The ways:
 *
 *   nap      clock_nanosleep(2)
 *   tmout    futex(2), until its timeout
 *   woken    futex(2), until another thread, rouse, calls the kernel to wake it
 *   read     read(2) from a pipe, which another thread, feed, writes to
 *   rouse, feed   these two: they sleep like nap
 *   mixed    like nap, US/4 and 2*US in turn
 *   vfork    until a child has ended, which is the one way not to be woken by a signal (state D)
 *   burn, burnt   never blocked: they keep one CPU busy for as long as the others take, both the
 *            same one. TIME is how long they were ready to run, and did not, as the
 *            kernel counts it.
 *   last     blocked from the moment that the others begin, and still at the end
 *   lain     blocked since before that
 *
 * last and lain have `still NAME TID WAY SINCE` instead, SINCE being the time of /proc/uptime.
 * Before `ready` comes `tid NAME TID` of each.
 *
 *   -n N         40
 *   -u US        25000
 *   -b US        half of -u
 *   -o WAY,WAY   only these, and those that they need (all but last and lain)
 *   -c           the i-th thread on the i-th CPU
 *   -N PREFIX    threads are named PREFIX and their way (none)
 *   -w, -k       as in other workloads
 */
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

#include "waits.h"

struct sleeper {
    const char *way;
    void (*outer)(struct sleeper *self);
    int needs; /* the index of a sleeper that this one needs, or -1 */
    pthread_t thread;
    unsigned index;
    int wanted;
    pid_t tid;
    char name[16];
    uint64_t since; /* ns; of `last` and `lain`, which sleep to the end */
    struct waits waits;
};

static unsigned long wanted = 40, period = 25000, bound;
static int spread;
static uint32_t gate, finished, standing, forever, roused;
static volatile int stop_burning;
static unsigned to_finish;
static int tube[2];
static const char *prefix = "";

/* Defines a way's two functions: only WAY_outer calls WAY_inner. */
#define WAY(way)                                                                                  \
    void way##_inner(struct sleeper *self);                                                       \
    void way##_outer(struct sleeper *self);                                                       \
    APART void way##_outer(struct sleeper *self)                                                  \
    {                                                                                             \
        FRAME;                                                                                    \
        way##_inner(self);                                                                        \
        NO_TAIL_CALL;                                                                             \
    }                                                                                             \
    APART void way##_inner(struct sleeper *self)

/* Notes how long `wait` blocks this thread. */
#define TIMED(wait)                                                                               \
    do {                                                                                          \
        struct stopwatch watch = stopwatch_read();                                                \
        wait;                                                                                     \
        waits_add(&self->waits, &watch, bound);                                                   \
    } while (0)

WAY(nap)
{
    FRAME;
    for (unsigned long i = 0; i < wanted; i++)
        TIMED(nap(period));
}

WAY(mixed)
{
    FRAME;
    for (unsigned long i = 0; i < wanted; i++)
        TIMED(nap(i % 2 ? 2 * period : period / 4));
}

WAY(tmout)
{
    struct timespec time = time_of_us(period);
    uint32_t never = 0;

    FRAME;
    for (unsigned long i = 0; i < wanted; i++)
        TIMED(futex_wait(&never, 0, &time));
}

/* A thread that is too late for a wakeup finds the word changed, and does not block. */
static inline __attribute__((always_inline)) void wait_until_roused(uint32_t i)
{
    while (__atomic_load_n(&roused, __ATOMIC_SEQ_CST) <= i)
        futex_wait(&roused, i, NULL);
}

WAY(woken)
{
    FRAME;
    for (uint32_t i = 0; i < wanted; i++)
        TIMED(wait_until_roused(i));
}

WAY(rouse)
{
    FRAME;
    for (unsigned long i = 0; i < wanted; i++) {
        TIMED(nap(period));
        __atomic_add_fetch(&roused, 1, __ATOMIC_SEQ_CST);
        futex_wake(&roused, 1);
    }
}

WAY(read)
{
    FRAME;
    for (unsigned long i = 0; i < wanted; i++)
        TIMED(read_byte(tube[0]));
}

WAY(feed)
{
    FRAME;
    for (unsigned long i = 0; i < wanted; i++) {
        TIMED(nap(period));
        write_byte(tube[1]);
    }
}

void reap(long child);

APART void reap(long child)
{
    FRAME;
    call_kernel_all(SYS_wait4, child, 0, 0, 0, 0, 0);
}

void child(void);

/* The child shares the memory of its suspended parent, but has its own name. */
APART void child(void)
{
    FRAME;
    call_kernel_all(SYS_prctl, PR_SET_NAME, (long)"child", 0, 0, 0, 0);
    nap(period);
    call_kernel(SYS_exit_group, 0);
}

static inline __attribute__((always_inline)) long make_child(void)
{
    const long made = call_kernel_all(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0, 0);

    if (!made)
        child();
    return made;
}

WAY(vfork)
{
    long made;

    FRAME;
    for (unsigned long i = 0; i < wanted; i++) {
        TIMED(made = make_child());
        reap(made);
    }
}

static inline __attribute__((always_inline)) void burn_on(struct sleeper *self)
{
    uint64_t delay = delay_ns(self->waits.delays);

    while (!stop_burning) {
    }
    self->waits.ns = delay_ns(self->waits.delays) - delay;
}

WAY(burn)
{
    FRAME;
    burn_on(self);
}

WAY(burnt)
{
    FRAME;
    burn_on(self);
}

WAY(last)
{
    FRAME;
    self->since = clock_ns(CLOCK_BOOTTIME);
    for (;;)
        futex_wait(&forever, 0, NULL);
}

WAY(lain)
{
    FRAME;
    self->since = clock_ns(CLOCK_BOOTTIME);
    for (;;)
        futex_wait(&forever, 0, NULL);
}

enum { NAP, TMOUT, WOKEN, ROUSE, READ, FEED, MIXED, VFORK, BURN, BURNT, LAST, LAIN, WAYS };

static struct sleeper sleepers[WAYS] = {
    [NAP] = {.way = "nap", .outer = nap_outer, .needs = -1, .wanted = 1},
    [TMOUT] = {.way = "tmout", .outer = tmout_outer, .needs = -1, .wanted = 1},
    [WOKEN] = {.way = "woken", .outer = woken_outer, .needs = ROUSE, .wanted = 1},
    [ROUSE] = {.way = "rouse", .outer = rouse_outer, .needs = -1, .wanted = 1},
    [READ] = {.way = "read", .outer = read_outer, .needs = FEED, .wanted = 1},
    [FEED] = {.way = "feed", .outer = feed_outer, .needs = -1, .wanted = 1},
    [MIXED] = {.way = "mixed", .outer = mixed_outer, .needs = -1, .wanted = 1},
    [VFORK] = {.way = "vfork", .outer = vfork_outer, .needs = -1, .wanted = 1},
    [BURN] = {.way = "burn", .outer = burn_outer, .needs = BURNT, .wanted = 1},
    [BURNT] = {.way = "burnt", .outer = burnt_outer, .needs = -1, .wanted = 1},
    [LAST] = {.way = "last", .outer = last_outer, .needs = -1},
    [LAIN] = {.way = "lain", .outer = lain_outer, .needs = -1},
};

static int burns(const struct sleeper *sleeper)
{
    return sleeper->index == BURN || sleeper->index == BURNT;
}

static int sleeps_on(const struct sleeper *sleeper)
{
    return sleeper->index == LAST || sleeper->index == LAIN;
}

void stand_by(void);
void stay(void);
void *sleeper(void *argument);

/* All threads wait here until the gate opens. */
APART void stand_by(void)
{
    FRAME;
    __atomic_add_fetch(&standing, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&gate, __ATOMIC_SEQ_CST))
        futex_wait(&gate, 0, NULL);
}

APART void stay(void)
{
    FRAME;
    __atomic_add_fetch(&finished, 1, __ATOMIC_SEQ_CST);
    futex_wake(&finished, 1);
    for (;;)
        futex_wait(&forever, 0, NULL);
}

/* Threads do not end: each stays in the functions that the test expects. */
APART void *sleeper(void *argument)
{
    struct sleeper *self = argument;

    FRAME;
    self->tid = (pid_t)syscall(SYS_gettid);
    snprintf(self->name, sizeof(self->name), "%s%s", prefix, self->way);
    prctl(PR_SET_NAME, self->name);
    if (burns(self))
        pin_to_cpu(1);
    else if (spread)
        pin_to_cpu(self->index);
    waits_prepare(&self->waits);
    if (self->index == LAIN)
        __atomic_add_fetch(&standing, 1, __ATOMIC_SEQ_CST);
    else
        stand_by();
    self->outer(self);
    stay();
    return NULL;
}

static void choose(char *ways)
{
    for (int i = 0; i < WAYS; i++)
        sleepers[i].wanted = 0;
    for (char *way = strtok(ways, ","); way; way = strtok(NULL, ",")) {
        int i = 0;

        while (i < WAYS && strcmp(sleepers[i].way, way))
            i++;
        if (i == WAYS) {
            fprintf(stderr, "sleeps: no way: %s\n", way);
            exit(2);
        }
        sleepers[i].wanted = 1;
        if (sleepers[i].needs >= 0)
            sleepers[sleepers[i].needs].wanted = 1;
    }
}

static void start_all(void)
{
    unsigned started = 0;

    for (unsigned i = 0; i < WAYS; i++) {
        if (!sleepers[i].wanted)
            continue;
        sleepers[i].index = i;
        if (pthread_create(&sleepers[i].thread, NULL, sleeper, &sleepers[i]))
            exit(2);
        started++;
        to_finish += !sleeps_on(&sleepers[i]) && !burns(&sleepers[i]);
    }
    /* A thread counts itself just before it sleeps: 50 ms later it is asleep. */
    while (__atomic_load_n(&standing, __ATOMIC_SEQ_CST) != started)
        nap(1000);
    nap(50000);
    for (int i = 0; i < WAYS; i++) {
        if (sleepers[i].wanted)
            printf("tid %s %d\n", sleepers[i].name, sleepers[i].tid);
    }
}

static void wait_for(unsigned number)
{
    uint32_t now;

    while ((now = __atomic_load_n(&finished, __ATOMIC_SEQ_CST)) < number)
        futex_wait(&finished, now, NULL);
}

static void say_all(uint64_t stolen)
{
    for (int i = 0; i < WAYS; i++) {
        const struct sleeper *it = &sleepers[i];

        if (it->wanted && sleeps_on(it))
            printf("still %s %d %s %.2f\n", it->name, it->tid, it->way, (double)it->since / 1e9);
        else if (it->wanted)
            printf("thread %s %d %s %llu %llu %llu %llu %llu %llu %llu\n", it->name, it->tid, it->way,
                   (unsigned long long)it->waits.count, (unsigned long long)it->waits.ns / 1000,
                   (unsigned long long)it->waits.long_count,
                   (unsigned long long)it->waits.long_ns / 1000,
                   (unsigned long long)it->waits.longest / 1000,
                   (unsigned long long)(it->waits.doubt_ns + stolen) / 1000,
                   (unsigned long long)waits_more_ns(&it->waits) / 1000);
    }
}

int main(int argc, char **argv)
{
    int option;
    uint64_t total = 0, stolen;

    while ((option = next_option(argc, argv, "n:u:b:o:c")) != -1) {
        switch (option) {
        case 'n': wanted = number_of(optarg); break;
        case 'u': period = number_of(optarg); break;
        case 'b': bound = number_of(optarg); break;
        case 'o': choose(optarg); break;
        case 'c': spread = 1; break;
        default: return 2;
        }
    }
    prefix = asked.comm ?: prefix;
    begin(NULL);
    bound = bound ? bound : period / 2;
    if (pipe(tube))
        return 2;
    start_all();
    wait_if_asked();
    stolen = stolen_ns();
    __atomic_store_n(&gate, 1, __ATOMIC_SEQ_CST);
    futex_wake(&gate, WAYS);
    wait_for(to_finish);
    stop_burning = 1;
    wait_for(to_finish + (unsigned)(sleepers[BURN].wanted + sleepers[BURNT].wanted));
    say_all(stolen_ns() - stolen);
    for (int i = 0; i < WAYS; i++)
        total += sleepers[i].waits.count;
    say_done(total);
    return 0;
}
