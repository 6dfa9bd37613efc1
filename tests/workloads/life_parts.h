/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The traced functions of a life, and the log's parts: threads with a name and a program. */
#ifndef STACKBOX_WORKLOADS_LIFE_PARTS_H
#define STACKBOX_WORKLOADS_LIFE_PARTS_H

#include <dirent.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "arch.h"
#include "life.h"
#include "word.h"

#define NEVER_AGAIN 40 /* tries to reuse a pid */

extern char **environ;

static struct life *life;
static int switches_cpus, chooses_pids;
static const char *seed_text, *log_path, *directory, *loads, *chosen;
static struct step steps[MOST_STEPS];
static unsigned step_count;

/* This thread's current part, its step, and its open /proc/thread-self/schedstat (-1: none). */
static __thread struct part *me;
static __thread const struct step *my_step;
static __thread int figures = -1;
static __thread struct dice dice;

static void trouble(const char *what)
{
    snprintf(life->trouble, sizeof(life->trouble), "step %u: %s: %s", me ? me->step : 0, what, strerror(errno));
}

#define ADD(what, number) __atomic_fetch_add(&(what), number, __ATOMIC_RELAXED)

/* ---- the traced functions: a call is logged before (begun) and after (done) */

void life_alpha(void);
void life_calls(unsigned n);
unsigned life_deep(unsigned left);
void life_nap(uint64_t nanoseconds);
void life_wait(int from);
void life_wake(int to);
void life_spin(uint64_t nanoseconds);
void life_stand(void);

APART void life_alpha(void)
{
    FRAME;
    call_kernel(SYS_getppid, 0);
}

APART void life_calls(unsigned n)
{
    FRAME;
    for (unsigned i = 0; i < n; i++) {
        ADD(me->begun[OF_ALPHA], 1);
        ADD(me->begun[OF_GETPPID], 1);
        life_alpha();
        ADD(me->done[OF_GETPPID], 1);
        ADD(me->done[OF_ALPHA], 1);
    }
}

static inline unsigned go_deep(unsigned left)
{
    unsigned depth;

    ADD(me->begun[OF_DEEP], 1);
    depth = life_deep(left);
    ADD(me->done[OF_DEEP], 1);
    return depth;
}

APART unsigned life_deep(unsigned left)
{
    unsigned below = 0;

    FRAME;
    if (left)
        below = go_deep(left - 1);
    NO_TAIL_CALL;
    return below + 1;
}

/* How long this thread has waited on the run queue, in ns. */
static uint64_t delay(void)
{
    char text[80] = "";
    unsigned long long ran, waited = 0;

    if (figures < 0 || pread(figures, text, sizeof(text) - 1, 0) <= 0 || sscanf(text, "%llu %llu", &ran, &waited) != 2)
        return 0;
    return waited;
}

static void seen(void)
{
    me->cpu = clock_now(CLOCK_THREAD_CPUTIME_ID);
    me->delay = delay();
    me->last = now();
}

/*
 * The least that a thread slept excludes its time on the CPU and on the run queue. The most is all
 * of its time in the function: it may have been preempted, or have waited for a lock, meanwhile.
 */
struct moment {
    uint64_t entered, cpu, delay, at;
};

static struct moment before(struct stretches *stretches)
{
    struct moment moment = {.entered = now()};

    stretches->since = moment.entered;
    moment.cpu = clock_now(CLOCK_THREAD_CPUTIME_ID);
    moment.delay = delay();
    moment.at = now();
    return moment;
}

static void after(struct stretches *stretches, const struct moment *begin, uint64_t until)
{
    uint64_t took = until > begin->at ? until - begin->at : 0, other;

    other = delay() - begin->delay;
    other += clock_now(CLOCK_THREAD_CPUTIME_ID) - begin->cpu;
    stretches->least += took > other ? took - other : 0;
    stretches->number++;
    stretches->most += now() - begin->entered;
    stretches->since = 0;
}

APART void life_nap(uint64_t nanoseconds)
{
    struct timespec length = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
    struct moment begin;

    FRAME;
    begin = before(&me->naps);
    call_kernel_all(SYS_nanosleep, (long)&length, 0, 0, 0, 0, 0);
    after(&me->naps, &begin, now());
}

APART void life_wait(int from)
{
    struct moment begin;
    uint64_t woken;

    FRAME;
    begin = before(&me->waits);
    me->woken.since = begin.entered;
    if (call_kernel_all(SYS_read, from, (long)&woken, sizeof(woken), 0, 0, 0) != (long)sizeof(woken))
        trouble("read");
    after(&me->waits, &begin, now());
    after(&me->woken, &begin, woken);
}

APART void life_wake(int to)
{
    uint64_t at = now();

    FRAME;
    if (call_kernel_all(SYS_write, to, (long)&at, sizeof(at), 0, 0, 0) < 0)
        trouble("write");
}

APART void life_spin(uint64_t nanoseconds)
{
    uint64_t end = clock_now(CLOCK_THREAD_CPUTIME_ID) + nanoseconds, last = now(), next;

    FRAME;
    for (; clock_now(CLOCK_THREAD_CPUTIME_ID) < end; last = next) {
        next = now();
        if (next - last > life->longest_gap)
            life->longest_gap = next - last;
    }
    me->spins.number++;
    me->spins.least += nanoseconds;
}

/* Waits for the go-ahead. */
APART void life_stand(void)
{
    FRAME;
    while (__atomic_load_n(&life->state, __ATOMIC_ACQUIRE) < GOES)
        call_kernel_all(CALL_FUTEX, (long)&life->state, FUTEX_WAIT, __atomic_load_n(&life->state, __ATOMIC_ACQUIRE) < GOES ?
                        (long)life->state : -1, 0, 0, 0);
}

/* ---- parts: a thread with a name and a program */

static void read_own_numbers(struct part *part)
{
    char link[64] = "";

    if (readlink("/proc/thread-self", link, sizeof(link) - 1) < 0 ||
        sscanf(link, "%d/task/%d", &part->pid, &part->tid) != 2)
        trouble("/proc/thread-self");
}

/* Not 0: that is the process of a part whose maker was killed before it wrote anything. */
static uint32_t new_process(void)
{
    return 1 + ADD(life->processes, 1);
}

/* What a new part inherits from its maker. */
struct origin {
    uint64_t born_after;
    uint32_t process, parent, follows, program;
    uint32_t image; /* 1 + the image's index, 0: a new image */
    struct part *part; /* from make_part(), NULL: not made yet */
};

/*
 * Logs a part for a thread that is about to be created, under this thread's name. If the new thread
 * is killed before it logs anything, the log has only this.
 */
static struct part *make_part(const struct origin *origin)
{
    uint32_t index = ADD(life->parts, 1);
    struct part *part;

    if (index >= MOST_PARTS) {
        errno = ENOSPC;
        trouble("too many parts");
        _exit(3);
    }
    part = &life->part[index];
    part->step = my_step ? (uint32_t)(my_step - steps) : MOST_STEPS;
    part->process = origin->process;
    part->parent = origin->parent;
    part->follows = origin->follows;
    part->program = origin->program;
    part->image = origin->image ? origin->image - 1 : index;
    part->born_after = origin->born_after;
    part->stood = __atomic_load_n(&life->state, __ATOMIC_ACQUIRE) < GOES;
    if (me)
        memcpy(part->name, me->name, sizeof(part->name));
    return part;
}

static void begin_part(const struct origin *origin)
{
    struct part *part = origin->part ? origin->part : make_part(origin);

    if (!origin->follows || origin->program != life->part[origin->follows - 1].program || figures < 0) {
        if (figures >= 0)
            close(figures);
        figures = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    }
    read_own_numbers(part);
    prctl(PR_GET_NAME, part->name);
    part->first = part->last = now();
    me = part;
    __atomic_store_n(&part->used, 1, __ATOMIC_RELEASE);
}

static void end_part(void)
{
    seen();
    me->ended = 1;
}

static uint32_t index_of(const struct part *part)
{
    return (uint32_t)(part - life->part);
}

/* Logs the pid of a process for it, unless the process has done so itself. */
static void tell_number(struct part *part, pid_t pid)
{
    int32_t none = 0;

    if (pid > 0 && __atomic_compare_exchange_n(&part->pid, &none, pid, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        part->tid = pid;
}

/* Marks all parts of a process as gone, except `but`. */
static void process_gone(uint32_t process, const struct part *but)
{
    uint64_t at = now();

    for (uint32_t i = 0; i < life->parts && i < MOST_PARTS; i++) {
        struct part *part = &life->part[i];
        if (part->process == process && part != but && !part->gone_before)
            part->gone_before = at;
    }
}

static void rename_thread(const char *name)
{
    struct origin origin = {0, me->process, me->parent, index_of(me) + 1, me->program, me->image + 1, NULL};
    struct part *old = me;

    end_part();
    prctl(PR_SET_NAME, name);
    begin_part(&origin);
    old->gone_before = me->first;
}

static void be_born(const struct origin *origin, uint64_t seed)
{
    figures = -1;
    dice.state = seed;
    learn_clock_offset();
    begin_part(origin);
}

/* fork(2); in the child, which has begun a part of its own, it returns 0. */
static pid_t give_birth(uint32_t *process)
{
    uint64_t seed = roll(&dice);
    struct origin origin = {now(), new_process(), me->process, 0, me->program, 0, NULL};
    pid_t pid;

    origin.part = make_part(&origin);
    *process = origin.process;
    pid = fork();
    if (!pid)
        be_born(&origin, seed);
    tell_number(origin.part, pid);
    return pid;
}

static void end_process(void)
{
    end_part();
    _exit(0);
}

/* Waits for a child, which must end by this signal, or with status 0 if `signal` is 0. */
static int await(pid_t pid, uint32_t process, int signal)
{
    int status;

    if (pid < 0)
        return 1;
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            trouble("waitpid");
            return 1;
        }
    }
    process_gone(process, NULL);
    if (signal ? !WIFSIGNALED(status) || WTERMSIG(status) != signal : status != 0) {
        errno = 0;
        trouble(WIFSIGNALED(status) ? "killed by a signal" : "a wrong status");
        snprintf(life->trouble + strlen(life->trouble), 40, ", status %x of pid %d", (unsigned)status, (int)pid);
    }
    return status != 0;
}

struct thread_words {
    struct origin origin;
    const struct step *step;
    uint64_t seed;
    void (*does)(void *);
    void *words;
    pthread_t thread;
    struct part *part; /* the thread's first part */
};

static void *thread(void *argument)
{
    struct thread_words *words = argument;

    my_step = words->step;
    dice.state = words->seed;
    begin_part(&words->origin);
    words->part = me;
    words->does(words->words);
    end_part();
    close(figures);
    return NULL;
}

static int start_thread(struct thread_words *words, void (*does)(void *), void *argument)
{
    words->origin = (struct origin){now(), me->process, me->parent, 0, me->program, me->image + 1, NULL};
    words->origin.part = make_part(&words->origin);
    words->origin.part->pid = me->pid;
    words->step = my_step;
    words->seed = roll(&dice);
    words->does = does;
    words->words = argument;
    words->part = NULL;
    return pthread_create(&words->thread, NULL, thread, words);
}

/* After pthread_join() the thread can still be exiting in the kernel. */
static void end_thread(struct thread_words *words)
{
    char path[64];

    pthread_join(words->thread, NULL);
    if (!words->part)
        return;
    snprintf(path, sizeof(path), "/proc/self/task/%d", words->part->tid);
    for (int i = 0; i < 1000 && !access(path, F_OK); i++)
        usleep(100);
    for (uint32_t i = 0; i < life->parts; i++) {
        if (life->part[i].tid == words->part->tid && life->part[i].process == words->part->process &&
            !life->part[i].gone_before)
            life->part[i].gone_before = now();
    }
}

#endif
