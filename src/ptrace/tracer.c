/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "ptrace/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/util.h"
#include "kernel/limits.h"
#include "kernel/refusal.h"
#include "kernel/task_events.h"
#include "machine/machine.h"
#include "sandbox/privileges.h"

#define ERESTARTNOHAND 514l /* the kernel's own */
#define STACK_BYTES (256u << 10)
#define MOST_PASSES 64     /* over a process whose threads come faster than they are seized */
#define WITHOUT_TRACEES_MS 10
#define TRIAL_MS 10000 /* a trial's child ends by then, even if we are killed meanwhile */
#define NS_PER_US 1000
#define CALL_STOP 0x80 /* PTRACE_O_TRACESYSGOOD: beside SIGTRAP, at a system call */
#define TICK_PAUSES 20 /* a tick may take one part in so many of the time between two */

static volatile sig_atomic_t is_woken, may_hold_signal;
static pid_t served;      /* the process that the tracer works for */
static struct tracer *us; /* the only one of this process */

/* ---- Letting go of threads with breakpoints ---- */

static uint64_t bit_of(uint32_t tid)
{
    return 1ull << tid % 64;
}

static bool is_armed(const struct tracer *tracer, uint32_t tid)
{
    return tracer->armed && tracer->armed[tid / 64] & bit_of(tid);
}

static int set_none(const struct tracer *tracer, uint32_t tid)
{
    static const uint64_t none[BREAKPOINTS_MOST];

    return breakpoints_set(tid, none, tracer->options.breakpoints);
}

int tracer_arm(struct tracer *tracer, struct tracee *tracee, bool all)
{
    const uint32_t tid = tracee->tid;

    if (!all)
        return set_none(tracer, tid);
    tracer->armed[tid / 64] |= bit_of(tid);
    return breakpoints_set(tid, tracee->points.addresses, tracer->options.breakpoints);
}

/*
 * The thread stopped with `status` (0: wait(2) reported it before), or has ended. False: it has hit
 * a breakpoint but stopped for something else first, and goes on until it stops with the SIGTRAP,
 * which must not reach the program.
 */
static bool disarm(struct tracer *tracer, uint32_t tid, int status)
{
    const bool has_signal = WIFSTOPPED(status) && !(status >> 16) &&
        !(WSTOPSIG(status) & CALL_STOP) && !breakpoints_stop(tid);
    const unsigned long signal = has_signal ? (unsigned long)WSTOPSIG(status) : 0;

    if (is_armed(tracer, tid))
        (void)set_none(tracer, tid);
    if (breakpoints_pending(tid) && !ptrace(PTRACE_CONT, (pid_t)tid, NULL, signal))
        return false;
    (void)ptrace(PTRACE_DETACH, (pid_t)tid, NULL, signal);
    tracer->armed[tid / 64] &= ~bit_of(tid);
    return true;
}

/* False: the thread will stop so that it can be disarmed. */
static bool begin_to_disarm(struct tracer *tracer, uint32_t tid)
{
    unsigned long message;
    int status;
    const bool is_stopped = !ptrace(PTRACE_GETEVENTMSG, (pid_t)tid, NULL, &message);

    if (waitpid((pid_t)tid, &status, WNOHANG | __WALL) == (pid_t)tid)
        return disarm(tracer, tid, status);
    if (is_stopped)
        return disarm(tracer, tid, 0);
    return ptrace(PTRACE_INTERRUPT, (pid_t)tid, NULL, NULL);
}

/* Makes system calls alone: a signal handler that calls this may have interrupted anything. */
static void disarm_all(struct tracer *tracer)
{
    size_t left = 0;
    int status;

    for (uint32_t tid = 0; tracer->armed && tid < tracer->tracees.limit; tid++)
        if (!tracer->armed[tid / 64])
            tid |= 63;
        else if (is_armed(tracer, tid) && !begin_to_disarm(tracer, tid))
            left++;
    while (left) {
        const pid_t tid = waitpid(-1, &status, __WALL);
        if (tid < 0 && errno != EINTR)
            break;
        if (tid < 0)
            continue;
        const bool was_armed = is_armed(tracer, (uint32_t)tid);
        left -= disarm(tracer, (uint32_t)tid, status) && was_armed;
    }
}

/*
 * If the process that the tracer serves was killed, one of its threads may have held a lock that
 * nothing releases, so the tracer exits. The kernel then lets go of all tracees, which go on; but a
 * signal that wait(2) has reported and the tracer has not passed on would be lost.
 */
static void end_if_alone(void)
{
    if (getppid() == served)
        return;
    disarm_all(us);
    _exit(EXIT_FAILURE);
}

static void on_alarm(int signal)
{
    (void)signal;
    is_woken = 1;
    if (!may_hold_signal)
        end_if_alone();
}

static void hold_no_signal(void)
{
    may_hold_signal = 0;
    end_if_alone(); /* which the handler may have put off */
}

/* ---- Telling the process tracker ---- */

static void tell(const struct tracer *tracer, struct task_event *event)
{
    struct processes *processes =
        __atomic_load_n(tracer->options.processes, __ATOMIC_ACQUIRE);

    event->time = now_ns();
    if (processes)
        processes_tell(processes, event);
}

static void tell_begin(const struct tracer *tracer, const struct tracee *tracee, uint32_t parent,
                       uint32_t forker)
{
    tell(tracer, &(struct task_event){.kind = TASK_FORK, .pid = tracee->pid, .tid = tracee->tid,
                                      .parent = parent, .forker = forker});
}

static void tell_name(const struct tracer *tracer, struct tracee *tracee, enum task_event_kind kind)
{
    unsigned cpu;

    if (tracee->tid == tracee->pid && tracee_state(tracee, &cpu))
        tell(tracer, &(struct task_event){.kind = kind, .pid = tracee->pid, .tid = tracee->tid,
                                          .path = tracee->comm});
}

/* ---- Beginning ---- */

static unsigned long wanted_events(const struct tracer *tracer)
{
    const bool of_all = tracer->options.command || tracer->options.follows,
               threads = of_all || !tracer->options.filter->tid_count;

    return PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT |
        (tracer->armed ? PTRACE_O_TRACESYSGOOD : 0) | (threads ? PTRACE_O_TRACECLONE : 0) |
        (of_all ? PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK : 0);
}

static void seize(struct tracer *tracer, uint32_t pid, uint32_t tid)
{
    if (tracer->result || tracees_find(&tracer->tracees, tid))
        return;
    if (ptrace(PTRACE_SEIZE, (pid_t)tid, NULL, wanted_events(tracer))) {
        if (errno != ESRCH) {
            tracer->result = -errno;
            tracer->refused = tid;
        }
        return;
    }
    struct tracee *tracee = tracees_add(&tracer->tracees, tid, pid);
    if (!tracee) {
        tracer->result = -ENOMEM;
        return;
    }
    tracee->counts = !tracer->options.command;
    tracee->has_begun = true;
    tracee->cpu = tracee_cpu(tracee);
}

static int seize_thread(void *context, uint32_t tid)
{
    struct tracer *tracer = context;

    seize(tracer, tracer->seizes, tid);
    return 0;
}

/* Looks again, as threads may have made others before they were seized. */
static void seize_process(struct tracer *tracer, uint32_t pid)
{
    size_t before, passes = 0;
    char path[32];

    snprintf(path, sizeof(path), "/proc/%u/task", pid);
    tracer->seizes = pid;
    do {
        before = tracer->tracees.count;
        (void)each_number(path, seize_thread, tracer);
    } while (tracer->tracees.count > before && ++passes < MOST_PASSES);
}

static void seize_all(struct tracer *tracer)
{
    const struct event_filter *filter = tracer->options.filter;
    uint32_t parent;

    if (tracer->options.command) {
        seize(tracer, tracer->options.command, tracer->options.command);
        return;
    }
    for (size_t i = 0; i < filter->pid_count; i++)
        seize_process(tracer, filter->pids[i]);
    for (size_t i = 0; i < filter->tid_count && !filter->pid_count; i++)
        seize(tracer, tracee_process(filter->tids[i], &parent), filter->tids[i]);
    if (!tracer->result && !tracer->tracees.count)
        tracer->result = -ESRCH;
}

/* ---- What tracees do ---- */

static void go_on(const struct tracee *tracee, int signal)
{
    (void)ptrace(tracee->points.steps        ? PTRACE_SINGLESTEP
                 : tracee->points.calls_stop ? PTRACE_SYSCALL : PTRACE_CONT,
                 (pid_t)tracee->tid, NULL, (unsigned long)signal);
}

static bool is_wanted(const struct tracer *tracer, uint32_t pid, const struct tracee *by)
{
    return tracer->options.command || tracer->options.follows || !by || by->pid == pid;
}

/*
 * Adds a new thread or process. Its own first stop and its maker's fork or clone event come in any
 * order. NULL: it is gone, or there is no memory.
 */
static struct tracee *adopt(struct tracer *tracer, uint32_t tid, uint32_t maker)
{
    uint32_t parent, pid = tracee_process(tid, &parent);
    struct tracee *tracee = pid ? tracees_add(&tracer->tracees, tid, pid) : NULL;

    if (!tracee)
        return NULL;
    if (!maker)
        maker = pid == tid ? parent : pid;
    const struct tracee *by = tracees_find(&tracer->tracees, maker);
    tracee->counts = !by || by->counts;
    tracee->since = __atomic_load_n(&tracer->period, __ATOMIC_ACQUIRE) ? now_ns() : 0;
    tracee->is_left = !is_wanted(tracer, pid, by);
    if (by && by->pid == pid) {
        tracee->shape = by->shape;
        tracee->looked = by->looked;
    }
    tell_begin(tracer, tracee, by ? by->pid : pid == tid ? parent : pid, maker);
    return tracee;
}

/* All other threads of the process are gone, and this one has the process's number. */
static void take_exec(struct tracer *tracer, struct tracee *tracee)
{
    for (size_t i = tracer->tracees.count; i--;) {
        const struct tracee *other = &tracer->tracees.items[i];
        if (other->pid == tracee->pid && other->tid != tracee->tid)
            tracees_drop(&tracer->tracees, other->tid);
    }
}

/* Without CAP_SYS_PTRACE a traced process keeps its user in a set-user-ID program. */
static void look_at_rights(struct tracer *tracer, const struct tracee *tracee)
{
    char path[64];
    struct stat about;
    uint32_t user;

    snprintf(path, sizeof(path), "/proc/%u/exe", tracee->pid);
    if (stat(path, &about) || !(about.st_mode & (S_ISUID | S_ISGID)))
        return;
    snprintf(path, sizeof(path), "/proc/%u", tracee->pid);
    const bool is_user = about.st_mode & S_ISUID;
    const uint32_t owner = is_user ? about.st_uid : about.st_gid;
    user = is_user ? geteuid() : getegid();
    if (owner == user || refusal_has_capability(CAP_SYS_PTRACE))
        return;
    if (!tracer->unprivileged++)
        memcpy(tracer->example, tracee->comm, COMM_BYTES);
}

static void stop_by_event(struct tracer *tracer, struct tracee *tracee, int event)
{
    const struct tracer_options *options = &tracer->options;
    const uint32_t tid = tracee->tid;
    unsigned long message = 0;

    switch (event) {
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
        if (!ptrace(PTRACE_GETEVENTMSG, (pid_t)tid, NULL, &message) &&
            !tracees_find(&tracer->tracees, (uint32_t)message))
            (void)adopt(tracer, (uint32_t)message, tid);
        break;
    case PTRACE_EVENT_EXEC:
        take_exec(tracer, tracee);
        tracee = tracees_find(&tracer->tracees, tid);
        tracee->counts = true;
        tracee->looked = 0;
        tell_name(tracer, tracee, TASK_EXEC);
        look_at_rights(tracer, tracee);
        options->calls->execs(options->context, tracee);
        break;
    case PTRACE_EVENT_EXIT:
        options->calls->ends(options->context, tracee);
        tell_name(tracer, tracee, TASK_NAME);
        break;
    default:
        break;
    }
    go_on(tracees_find(&tracer->tracees, tid), 0); /* adopting may have moved it */
}

static bool is_stop_signal(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/*
 * The interruption may make a system call that has just begun fail with EINTR, even without a
 * signal: has the kernel restart it, unless the thread gets a signal with a handler.
 */
static void begin_call_again(uint32_t tid)
{
    const struct machine *machine = machine_ours();
    const size_t size = sizeof(long);

    if (!machine->restarts_late)
        return;
    const int result = (int)ptrace(PTRACE_PEEKUSER, (pid_t)tid,
                                   (void *)(machine->args.result * size), NULL);
    if (result == -EINTR && ptrace(PTRACE_PEEKUSER, (pid_t)tid,
                                   (void *)(machine->walk->call * size), NULL) >= 0)
        (void)ptrace(PTRACE_POKEUSER, (pid_t)tid, (void *)(machine->args.result * size),
                     (void *)-ERESTARTNOHAND);
}

/* A stop by our interruption, at a thread's beginning, by SIGCONT, or in a group-stop. */
static void stop_by_trap(struct tracer *tracer, struct tracee *tracee, int signal)
{
    const struct tracer_options *options = &tracer->options;
    const uint32_t tid = tracee->tid;
    const bool is_sampled = tracee->is_asked, begins = !tracee->has_begun;

    tracee->is_asked = false;
    tracee->has_begun = true;
    if (begins && options->calls->begins)
        options->calls->begins(options->context, tracee);
    if (is_stop_signal(signal)) {
        (void)ptrace(PTRACE_LISTEN, (pid_t)tid, NULL, NULL);
        return;
    }
    if (is_sampled)
        options->calls->stopped(options->context, tracee);
    begin_call_again(tid);
    go_on(tracee, 0);
    if (is_sampled)
        options->calls->went_on(options->context, tracee);
}

static void let_go(struct tracer *tracer, uint32_t tid, int event, int signal)
{
    (void)ptrace(PTRACE_DETACH, (pid_t)tid, NULL, (unsigned long)(event ? 0 : signal));
    tracees_drop(&tracer->tracees, tid);
}

/* A thread at a breakpoint, or after a step over it, stops with a SIGTRAP that is not its own. */
static void stop_by_signal(struct tracer *tracer, struct tracee *tracee, int signal)
{
    const struct tracer_options *options = &tracer->options;
    const enum breakpoint_stop stop = signal == SIGTRAP && is_armed(tracer, tracee->tid)
        ? breakpoints_stop(tracee->tid) : BREAKPOINT_NONE;
    bool is_counted = false;

    if (signal == (SIGTRAP | CALL_STOP))
        is_counted = options->calls->called(options->context, tracee);
    else if (stop == BREAKPOINT_HIT || (stop && tracee->points.steps)) {
        hold_no_signal();
        is_counted = options->calls->hit(options->context, tracee, stop);
    } else {
        go_on(tracee, signal);
        return;
    }
    go_on(tracee, 0);
    if (is_counted)
        options->calls->went_on(options->context, tracee);
}

static void take_end(struct tracer *tracer, struct tracee *tracee)
{
    if (tracer->armed)
        tracer->armed[tracee->tid / 64] &= ~bit_of(tracee->tid);
    tell(tracer, &(struct task_event){.kind = TASK_EXIT, .pid = tracee->pid, .tid = tracee->tid});
    tracees_drop(&tracer->tracees, tracee->tid);
}

/* The status from wait(2) has the stop's signal and, above it, the ptrace event. */
static void take_stop(struct tracer *tracer, uint32_t tid, int status)
{
    const int signal = WSTOPSIG(status), event = status >> 16;
    struct tracee *tracee = tracees_find(&tracer->tracees, tid);

    if (!tracee)
        tracee = adopt(tracer, tid, 0);
    /* At any other stop the kernel forgets an interruption that is pending. */
    if (tracee && event != PTRACE_EVENT_STOP)
        tracee->is_asked = false;
    if (!tracee || tracee->is_left)
        let_go(tracer, tid, event, signal);
    else if (event == PTRACE_EVENT_STOP)
        stop_by_trap(tracer, tracee, signal);
    else if (event)
        stop_by_event(tracer, tracee, event);
    else
        stop_by_signal(tracer, tracee, signal);
}

/* Waits for one tracee. False: a signal woke it up, or there is no tracee. */
static bool take_one(struct tracer *tracer)
{
    int status;

    may_hold_signal = 1;
    const pid_t tid = waitpid(-1, &status, __WALL);
    const bool is_signal = tid >= 0 && WIFSTOPPED(status) &&
                           WSTOPSIG(status) != (SIGTRAP | CALL_STOP) && !(status >> 16);
    if (!is_signal)
        hold_no_signal();
    if (tid < 0) {
        if (errno == ECHILD)
            (void)poll(NULL, 0, WITHOUT_TRACEES_MS);
        return false;
    }
    struct tracee *tracee = tracees_find(&tracer->tracees, (uint32_t)tid);
    if (WIFSTOPPED(status))
        take_stop(tracer, (uint32_t)tid, status);
    else if (tracee)
        take_end(tracer, tracee);
    if (is_signal)
        hold_no_signal();
    return true;
}

/* ---- The tracer ---- */

/*
 * The next tick comes after 3/4 to 5/4 of a period, so as not to keep step with what is traced;
 * later if ticks take long, as they do with thousands of threads.
 */
static void arm(struct tracer *tracer, uint64_t spent)
{
    const uint64_t least = spent * TICK_PAUSES,
        period = tracer->period > least ? tracer->period : least;
    uint64_t *random = &tracer->random;

    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    const uint64_t until = (period * 3 / 4 + *random % (period / 2)) / NS_PER_US;
    const struct timeval value = {(time_t)(until / 1000000), (suseconds_t)(until % 1000000)};
    /* The timer repeats, as the signal may come just before the tracer waits. */
    const struct itimerval timer = {.it_value = value, .it_interval = value};

    setitimer(ITIMER_REAL, &timer, NULL);
}

static bool goes_on(const struct tracer *tracer)
{
    return !__atomic_load_n(&tracer->ends, __ATOMIC_ACQUIRE);
}

static void serve(struct tracer *tracer)
{
    uint64_t due = 0;

    while (goes_on(tracer)) {
        const uint64_t now = is_woken ? now_ns() : 0;
        if (is_woken && __atomic_load_n(&tracer->period, __ATOMIC_ACQUIRE) && now >= due) {
            is_woken = 0;
            tracer->options.calls->tick(tracer->options.context);
            arm(tracer, now_ns() - now);
            due = now + tracer->period / 2; /* SIGALRM may also come from others */
        }
        (void)take_one(tracer);
    }
}

static void leave(struct tracer *tracer)
{
    const struct tracer_options *options = &tracer->options;

    for (size_t i = 0; options->calls->leaves && i < tracer->tracees.count; i++)
        options->calls->leaves(options->context, &tracer->tracees.items[i]);
}

static int be_tracer(void *context)
{
    struct tracer *tracer = context;
    struct sigaction action = {.sa_handler = on_alarm};
    sigset_t held;

    tracer->pid = getpid();
    prctl(PR_SET_NAME, "ptracer");
    sigaction(SIGALRM, &action, NULL);
    prctl(PR_SET_PDEATHSIG, SIGALRM);
    end_if_alone();
    sigfillset(&held);
    sigdelset(&held, SIGALRM);
    sigprocmask(SIG_SETMASK, &held, NULL);
    come_before_others();
    seize_all(tracer);
    const bool is_refused = tracer->result;
    (void)privileges_keep_tracing();
    sem_post(&tracer->is_ready);
    if (!is_refused)
        serve(tracer);
    leave(tracer);
    disarm_all(tracer);
    tracer->was_killed = false;
    return 0; /* the kernel lets go of all tracees, in which no breakpoint is left */
}

/*
 * The tracer takes this thread's place in the C library, so this thread waits (CLONE_VFORK) until
 * the tracer has ended.
 */
static void *keep(void *context)
{
    struct tracer *tracer = context;

    if (clone(be_tracer, (char *)tracer->stack + STACK_BYTES,
              CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_VFORK | SIGCHLD, tracer) < 0)
        tracer->result = -errno;
    __atomic_store_n(&tracer->has_ended, true, __ATOMIC_RELEASE);
    sem_post(&tracer->is_ready);
    return NULL;
}

/* /proc tells what threads do, and whose they are. */
static int find_proc(void)
{
    return access("/proc/self/stat", F_OK) ? -errno : 0;
}

static size_t bits_bytes(const struct tracer *tracer)
{
    return (tracer->tracees.limit / 64 + 1) * sizeof(*tracer->armed);
}

static int make_bits(struct tracer *tracer)
{
    void *bits = mmap(NULL, bits_bytes(tracer), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    tracer->armed = bits == MAP_FAILED ? NULL : bits;
    return tracer->armed ? 0 : -errno;
}

static int begin(struct tracer *tracer)
{
    int result = tracees_open(&tracer->tracees);

    tracer->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                         -1, 0);
    if (!result && tracer->stack == MAP_FAILED)
        result = -errno;
    if (result)
        return result;
    if (tracer->options.calls->hit)
        result = make_bits(tracer);
    if (result)
        return result;
    served = getpid();
    us = tracer;
    tracer->random = now_ns() | 1;
    tracer->was_killed = true;
    sem_init(&tracer->is_ready, 0, 0);
    result = thread_begin(&tracer->keeper, keep, tracer);
    if (result)
        return result;
    tracer->is_open = true;
    (void)UNINTERRUPTED(sem_wait(&tracer->is_ready));
    return tracer->result;
}

int tracer_open(struct tracer *tracer, const struct tracer_options *options, struct text *why)
{
    *tracer = (struct tracer){.options = *options, .stack = MAP_FAILED};
    int result = find_proc();

    if (!result)
        result = begin(tracer);
    if (result) {
        text_add(why, "cannot trace by ptrace(2): ");
        tracer_explain(result, tracer->refused == options->command ? 0 : tracer->refused, why);
    }
    return result;
}

void tracer_start(struct tracer *tracer, uint64_t period)
{
    __atomic_store_n(&tracer->period, period, __ATOMIC_RELEASE);
    kill(tracer->pid, SIGALRM);
}

void tracer_end(struct tracer *tracer)
{
    if (!tracer->is_open)
        return;
    __atomic_store_n(&tracer->ends, true, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&tracer->has_ended, __ATOMIC_ACQUIRE)) {
        if (tracer->pid)
            kill(tracer->pid, SIGALRM);
        (void)poll(NULL, 0, 1);
    }
    pthread_join(tracer->keeper, NULL);
    if (tracer->pid)
        (void)UNINTERRUPTED(waitpid(tracer->pid, NULL, 0));
    tracer->is_open = false;
}

void tracer_close(struct tracer *tracer)
{
    tracer_end(tracer);
    if (tracer->stack && tracer->stack != MAP_FAILED)
        munmap(tracer->stack, STACK_BYTES);
    if (tracer->armed)
        munmap(tracer->armed, bits_bytes(tracer));
    tracer->armed = NULL;
    tracees_close(&tracer->tracees);
    tracer->stack = NULL;
}

void tracer_ask(struct tracee *tracee)
{
    tracee->is_asked = !ptrace(PTRACE_INTERRUPT, (pid_t)tracee->tid, NULL, NULL);
}

/* ---- Would it work, and why not ---- */

int tracer_try(int (*ask)(uint32_t tid))
{
    int result = find_proc();

    if (result)
        return result;
    const pid_t child = fork();
    if (child < 0)
        return -errno;
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)poll(NULL, 0, TRIAL_MS);
        _exit(0);
    }
    if (ptrace(PTRACE_SEIZE, child, NULL, NULL) ||
        (ask && (ptrace(PTRACE_INTERRUPT, child, NULL, NULL) ||
                 UNINTERRUPTED(waitpid(child, NULL, 0)) < 0)))
        result = -errno;
    else if (ask)
        result = ask((uint32_t)child);
    kill(child, SIGKILL);
    (void)UNINTERRUPTED(waitpid(child, NULL, 0));
    return result;
}

static void explain_no_right(uint32_t tid, struct text *sentence)
{
    const unsigned scope = (unsigned)kernel_number("/proc/sys/kernel/yama/ptrace_scope", 0);
    const bool may_trace = refusal_has_capability(CAP_SYS_PTRACE);
    uint32_t tracer = 0, user = getuid();
    char path[32];

    snprintf(path, sizeof(path), "/proc/%u/status", tid);
    if (tid) {
        (void)read_status(AT_FDCWD, path, "\nTracerPid:", &tracer);
        (void)read_status(AT_FDCWD, path, STATUS_UID, &user);
    }
    if (tracer)
        text_format(sentence, "process %u traces thread %u already, and only one can: end that "
                    "first (a debugger, strace)", tracer, tid);
    else if (scope > 2 || (scope == 2 && !may_trace))
        text_format(sentence, "kernel.yama.ptrace_scope is %u: %s", scope, scope == 2
                    ? "run it as root, or lower that to 1" : "boot with another setting");
    else if (!may_trace && user != getuid())
        text_format(sentence, "thread %u is another user's, which needs CAP_SYS_PTRACE: run it as "
                    "that user, or as root", tid);
    else if (!may_trace && scope == 1 && tid)
        text_add(sentence, "kernel.yama.ptrace_scope is 1, so only what stackbox starts may be "
                 "traced: start it with -- COMMAND, or lower that to 0");
    else if (prctl(PR_GET_SECCOMP) == 2 && !tid)
        text_add(sentence, "a seccomp filter blocks it: start the container or service with one "
                 "that allows ptrace (Docker's own does)");
    else if (tid)
        text_format(sentence, "thread %u has more rights than this process, or is a kernel thread: "
                    "run it as root, with CAP_SYS_PTRACE", tid);
    else
        text_add(sentence, "the kernel refuses without saying why (it may be a security module)");
}

void tracer_explain(int error, uint32_t tid, struct text *sentence)
{
    if (error == -EPERM || error == -EACCES)
        explain_no_right(tid, sentence);
    else if (error == -ENOSYS)
        text_add(sentence, "there is no such call here: use a kernel, or a filter, that has it");
    else if (error == -ENOENT)
        text_add(sentence, "/proc is not mounted: mount -t proc proc /proc");
    else if (error == -ESRCH)
        text_add(sentence, "the process has ended");
    else
        text_add(sentence, strerror(-error));
}
