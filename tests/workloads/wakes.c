/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * wakes [-n N] [-u US] [-P] [-c] [-N PREFIX] [-w] [-k] GROUP...
 *
 * Groups of threads that wake each other, all groups at the same time. A GROUP is a way, and how
 * many there are in it (2):
 *
 *   pipe, pipe:3   the first sleeps US microseconds and then wakes the second, which wakes the third,
 *                  and so on; N times
 *   futex@2        a ring: the first wakes the second at once, and so on, the last wakes the first;
 *                  N times round
 *   signal         by tgkill(2), to one that waits in rt_sigtimedwait(2)
 *   nap            sleeps US microseconds N times, and wakes no thread
 *
 * The stack of the one numbered i (counted over all groups) has for its number five frames, zero()
 * or one(), the binary digits from the greatest on: member > one > ... > pipe_waits, and pipe_wakes
 * where it wakes the next; the sleep of the first of a group is in naps. At the end is said of each,
 * with times in microseconds:
 *
 *     wait NAME PID TID STACK WAITS TIME TO_WAKE DELAY LONGEST DOUBT MORE WAKER_NAME WAKER_PID
 *          WAKER_TID WAKER_STACK RAN
 *
 * TIME: how long it was off the CPU; TO_WAKE: until just before its waker made the call; DELAY: how
 * long it was ready to run and did not, as the kernel counts it; LONGEST: of one wait; DOUBT, MORE: how
 * much less, and more, TIME may have been; RAN: what it ran itself in these calls. In naps the four
 * before that are `-`, and TO_WAKE is 0. Before `ready` comes `tid NAME PID TID` of each, and before
 * `done` comes `rate N`, the wakes per second of all.
 *
 *   -n N         100
 *   -u US        10000
 *   -P           processes, not threads
 *   -c           a group on the same CPU: the first group on the first, and so on
 *   -N PREFIX    they are named PREFIX and their number (w)
 *   -w, -k       as in other workloads
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "waits.h"

#define DIGITS 5
#define MOST (1 << DIGITS)
#define STAMPS 64

enum way { PIPE, FUTEX, SIGNAL, NAP };

static const char *const way_names[] = {"pipe", "futex", "signal", "nap"};

/* In shared memory: with -P the members are processes. */
struct member {
    enum way way;
    unsigned index, group;
    int first, ring;
    struct member *next, *previous; /* whom it wakes, and its waker; NULL: none */
    pid_t pid, tid;
    char name[16];
    int tube[2];
    uint32_t word;            /* the futex: how often it was woken */
    uint64_t stamps[STAMPS];  /* time before each wakeup, modulo STAMPS */
    uint64_t woken;           /* how often its waker woke it */
    uint64_t delay;
    struct waits waits;
};

struct shared {
    struct member members[MOST];
    uint32_t gate, standing, finished, forever;
};

static struct shared *shared;
static unsigned members, groups;
static unsigned long wanted = 100, period = 10000;
static int processes, pinned;
static const char *prefix = "w";

void pipe_waits(struct member *self);
void futex_waits(struct member *self);
void signal_waits(struct member *self);
void naps(struct member *self);
void pipe_wakes(struct member *other);
void futex_wakes(struct member *other);
void signal_wakes(struct member *other);
void zero(struct member *self, unsigned digits, int wakes);
void one(struct member *self, unsigned digits, int wakes);

static inline __attribute__((always_inline)) void measured(struct member *self,
                                                           const struct stopwatch *watch)
{
    uint64_t stamp = self->stamps[self->waits.count % STAMPS];
    uint64_t ran = waits_add(&self->waits, watch, 0);

    /* Part of `ran` was after the wakeup, so this is a lower bound. */
    if (self->previous && stamp > watch->before + ran)
        self->waits.to_wake_ns += stamp - watch->before - ran;
}

APART void pipe_waits(struct member *self)
{
    struct stopwatch watch;

    FRAME;
    watch = stopwatch_read();
    read_byte(self->tube[0]);
    measured(self, &watch);
}

/* Does not block if the wakeup came first: it has changed the word. */
APART void futex_waits(struct member *self)
{
    struct stopwatch watch;
    uint32_t seen = (uint32_t)self->waits.count;

    FRAME;
    watch = stopwatch_read();
    while (__atomic_load_n(&self->word, __ATOMIC_SEQ_CST) == seen)
        futex_wait(&self->word, seen, NULL);
    measured(self, &watch);
}

APART void signal_waits(struct member *self)
{
    struct stopwatch watch;

    FRAME;
    watch = stopwatch_read();
    while (signal_wait(SIGRTMIN) < 0) {
    }
    measured(self, &watch);
}

APART void naps(struct member *self)
{
    struct stopwatch watch;

    FRAME;
    watch = stopwatch_read();
    nap(period);
    measured(self, &watch);
}

static inline __attribute__((always_inline)) void stamp(struct member *other)
{
    other->stamps[other->woken++ % STAMPS] = clock_ns(CLOCK_MONOTONIC);
}

APART void pipe_wakes(struct member *other)
{
    FRAME;
    stamp(other);
    write_byte(other->tube[1]);
}

APART void futex_wakes(struct member *other)
{
    FRAME;
    stamp(other);
    __atomic_add_fetch(&other->word, 1, __ATOMIC_SEQ_CST);
    futex_wake(&other->word, 1);
}

APART void signal_wakes(struct member *other)
{
    FRAME;
    stamp(other);
    while (signal_send(other->pid, other->tid, SIGRTMIN) == -EAGAIN) {
    }
}

static inline __attribute__((always_inline)) void act(struct member *self, int wakes)
{
    switch (self->way) {
    case PIPE: wakes ? pipe_wakes(self->next) : pipe_waits(self); break;
    case FUTEX: wakes ? futex_wakes(self->next) : futex_waits(self); break;
    case SIGNAL: wakes ? signal_wakes(self->next) : signal_waits(self); break;
    case NAP: break;
    }
}

static inline __attribute__((always_inline)) void descend(struct member *self, unsigned digits,
                                                          int wakes)
{
    if (digits) {
        if (self->index >> (digits - 1) & 1)
            one(self, digits - 1, wakes);
        else
            zero(self, digits - 1, wakes);
    } else if (!wakes && self->first && !self->ring) {
        naps(self);
    } else {
        act(self, wakes);
    }
    NO_TAIL_CALL;
}

APART void zero(struct member *self, unsigned digits, int wakes)
{
    FRAME;
    descend(self, digits, wakes);
    __asm__ volatile("nop"); /* not a copy of one() */
}

APART void one(struct member *self, unsigned digits, int wakes)
{
    FRAME;
    descend(self, digits, wakes);
}

/* ---- Differences between the ways ---- */

void stand_by(void);
void stay(void);
void *member(void *argument);

APART void stand_by(void)
{
    FRAME;
    __atomic_add_fetch(&shared->standing, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&shared->gate, __ATOMIC_SEQ_CST))
        futex_wait(&shared->gate, 0, NULL);
}

APART void stay(void)
{
    FRAME;
    __atomic_add_fetch(&shared->finished, 1, __ATOMIC_SEQ_CST);
    futex_wake(&shared->finished, 1);
    for (;;)
        futex_wait(&shared->forever, 0, NULL);
}

APART void *member(void *argument)
{
    struct member *self = argument;
    uint64_t delayed;

    FRAME;
    self->pid = getpid();
    self->tid = (pid_t)syscall(SYS_gettid);
    snprintf(self->name, sizeof(self->name), "%s%u", prefix, self->index);
    prctl(PR_SET_NAME, self->name);
    if (pinned)
        pin_to_cpu(self->group);
    waits_prepare(&self->waits);
    stand_by();
    delayed = self->waits.delay_ns = delay_ns(self->waits.delays);
    for (unsigned long i = 0; i < wanted; i++) {
        if (self->first && self->ring)
            descend(self, DIGITS, 1);
        descend(self, DIGITS, 0);
        if (self->next && !(self->first && self->ring))
            descend(self, DIGITS, 1);
    }
    self->delay = delay_ns(self->waits.delays) - delayed;
    stay();
    return NULL;
}

/* ---- The start and the end ---- */

static void add_group(const char *text)
{
    size_t length = strcspn(text, ":@");
    unsigned size = text[length] ? (unsigned)number_of(text + length + 1) : 2;
    unsigned begin = members;
    int way = 0;

    while (way <= NAP && strncmp(way_names[way], text, length))
        way++;
    if (way > NAP || !size || members + size > MOST) {
        fprintf(stderr, "wakes: no group: %s\n", text);
        exit(2);
    }
    if (way == NAP)
        size = 1;
    for (unsigned i = 0; i < size; i++, members++) {
        struct member *it = &shared->members[members];

        *it = (struct member){.way = (enum way)way, .index = members, .group = groups,
                              .first = !i, .ring = text[length] == '@'};
        if (pipe2(it->tube, O_CLOEXEC))
            exit(2);
        it->next = i + 1 < size ? it + 1 : it->ring ? &shared->members[begin] : NULL;
        it->previous = i ? it - 1 : it->ring ? &shared->members[begin + size - 1] : NULL;
    }
    groups++;
}

static void start_all(void)
{
    pthread_t thread;

    for (unsigned i = 0; i < members; i++) {
        if (!processes) {
            if (pthread_create(&thread, NULL, member, &shared->members[i]))
                exit(2);
        } else if (!fork()) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            member(&shared->members[i]);
        }
    }
    /* A thread counts itself just before it sleeps: soon after it is asleep. */
    while (__atomic_load_n(&shared->standing, __ATOMIC_SEQ_CST) != members)
        nap(1000);
    nap(50000);
    for (unsigned i = 0; i < members; i++) {
        const struct member *it = &shared->members[i];

        printf("tid %s %d %d\n", it->name, it->pid, it->tid);
    }
}

static void wait_for_all(void)
{
    uint32_t now;

    while ((now = __atomic_load_n(&shared->finished, __ATOMIC_SEQ_CST)) < members)
        futex_wait(&shared->finished, now, NULL);
}

static void say_stack(const struct member *it, const char *leaf, const char *end)
{
    printf("member");
    for (int digit = DIGITS; digit--;)
        printf(it->index >> digit & 1 ? ";one" : ";zero");
    printf(";%s%s%s", leaf ? way_names[it->way] : "naps", leaf ? leaf : "", end);
}

static void say_member(const struct member *it, uint64_t stolen)
{
    const struct member *waker = it->previous;

    printf("wait %s %d %d ", it->name, it->pid, it->tid);
    say_stack(it, waker ? "_waits" : NULL, " ");
    printf("%llu %llu %llu %llu %llu %llu %llu ", (unsigned long long)it->waits.count,
           (unsigned long long)it->waits.ns / 1000,
           (unsigned long long)it->waits.to_wake_ns / 1000, (unsigned long long)it->delay / 1000,
           (unsigned long long)it->waits.longest / 1000,
           (unsigned long long)(it->waits.doubt_ns + stolen) / 1000,
           (unsigned long long)waits_more_ns(&it->waits) / 1000);
    if (!waker) {
        printf("- - - - ");
    } else {
        printf("%s %d %d ", waker->name, waker->pid, waker->tid);
        say_stack(waker, "_wakes", " ");
    }
    printf("%llu\n", (unsigned long long)it->waits.cpu_ns / 1000);
}

static void say_all(uint64_t ns, uint64_t stolen)
{
    uint64_t total = 0, wakes = 0;

    for (unsigned i = 0; i < members; i++) {
        const struct member *it = &shared->members[i];

        say_member(it, stolen);
        total += it->waits.count;
        wakes += it->woken;
    }
    printf("rate %llu\n", (unsigned long long)(wakes * 1000000000 / (ns ? ns : 1)));
    say_done(total);
}

static void prepare(void)
{
    sigset_t set;

    prefix = asked.comm ?: prefix;
    begin(NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, NULL);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        exit(2);
}

int main(int argc, char **argv)
{
    int option;
    uint64_t start, stolen;

    while ((option = next_option(argc, argv, "n:u:Pc")) != -1) {
        switch (option) {
        case 'n': wanted = number_of(optarg); break;
        case 'u': period = number_of(optarg); break;
        case 'P': processes = 1; break;
        case 'c': pinned = 1; break;
        default: return 2;
        }
    }
    prepare();
    for (; optind < argc; optind++)
        add_group(argv[optind]);
    start_all();
    wait_if_asked();
    stolen = stolen_ns();
    start = clock_ns(CLOCK_MONOTONIC);
    __atomic_store_n(&shared->gate, 1, __ATOMIC_SEQ_CST);
    futex_wake(&shared->gate, MOST);
    wait_for_all();
    say_all(clock_ns(CLOCK_MONOTONIC) - start, stolen_ns() - stolen);
    return 0;
}
