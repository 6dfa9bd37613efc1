/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The system calls in which stackbox may interrupt a blocked thread, by /proc of a child. */
#include "ptrace/tracees.h"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "machine/machine.h"
#include "unit/test.h"

#ifdef SYS_clock_nanosleep_time64
#define CALL_NANOSLEEP SYS_clock_nanosleep_time64
#else
#define CALL_NANOSLEEP SYS_clock_nanosleep
#endif

#define MOST_TRIES 5000 /* of 1 ms each, until the child is blocked */

static void sleep_long(void)
{
    sleep(1000);
}

static void poll_long(void)
{
    poll(NULL, 0, 1000000);
}

static void select_long(void)
{
    select(0, NULL, NULL, NULL, &(struct timeval){.tv_sec = 1000});
}

static void wait_for_child(void)
{
    if (!fork()) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sleep_long();
    }
    waitpid(-1, NULL, 0);
}

static void read_from(int file)
{
    uint64_t bytes;

    (void)!read(file, &bytes, sizeof(bytes));
}

static void read_pipe(void)
{
    int ends[2];

    if (!pipe(ends))
        read_from(ends[0]);
}

static void read_counter(void)
{
    read_from(eventfd(0, 0));
}

static void read_socket(void)
{
    int ends[2];

    if (!socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        read_from(ends[0]);
}

static void receive(void)
{
    int ends[2];
    char byte;

    if (!socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        recv(ends[0], &byte, 1, 0);
}

static void receive_all(void)
{
    int ends[2];
    char byte;

    if (!socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        recv(ends[0], &byte, 1, MSG_WAITALL);
}

static void write_pipe(void)
{
    static char bytes[1 << 20];
    int ends[2];

    if (!pipe(ends))
        (void)!write(ends[1], bytes, sizeof(bytes));
}

/* Another process holds the lock. */
static void lock_file(void)
{
    char name[] = "/tmp/tracees-XXXXXX";
    const int file = mkstemp(name);

    unlink(name);
    if (!fork()) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)!lockf(file, F_LOCK, 0);
        sleep_long();
    }
    poll(NULL, 0, 100);
    (void)!lockf(file, F_LOCK, 0);
}

static void wait_for_events(void)
{
    struct epoll_event event;

    epoll_wait(epoll_create1(0), &event, 1, -1);
}

static void wait_for_signal(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigtimedwait(&set, NULL, &(struct timespec){.tv_sec = 1000});
}

static const struct {
    const char *name;
    void (*block)(void);
    enum { NEVER, ALWAYS, WITH_HELP } restarts; /* the tracer's, see machine.restarts_late */
} calls[] = {
    {"sleep", sleep_long, ALWAYS},
    {"poll", poll_long, ALWAYS},
    {"select", select_long, ALWAYS},
    {"wait", wait_for_child, ALWAYS},
    {"a pipe", read_pipe, ALWAYS},
    {"an eventfd", read_counter, ALWAYS},
    {"a socket, by read", read_socket, WITH_HELP},
    {"a socket, by recv", receive, WITH_HELP},
    {"epoll", wait_for_events, WITH_HELP},
    {"sigtimedwait", wait_for_signal, WITH_HELP},
    {"recv, until there is all", receive_all, NEVER},
    {"a write", write_pipe, NEVER},
    {"a lock of a file", lock_file, NEVER},
};

static pid_t start(void (*block)(void))
{
    const pid_t child = fork();

    if (child)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    block();
    _exit(1);
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/*
 * The child may be blocked for a moment before it reaches the call. `asked`: how many times it had
 * got a CPU at its last interruption; 1: now.
 */
static bool is_found(pid_t child, bool restarts, uint64_t asked)
{
    struct tracee tracee = {.tid = (uint32_t)child, .pid = (uint32_t)child, .slices = 1,
                            .wait.asked = asked};
    struct tracee_call call;
    unsigned cpu;

    for (int i = 0; i < MOST_TRIES; i++) {
        poll(NULL, 0, 1);
        if (tracee_state(&tracee, &cpu) == 'S' && !tracee_call(&tracee, &call) &&
            call.number >= 0 && tracee_call_restarts(&tracee, &call) == restarts)
            return call.sp && call.pc;
    }
    return false;
}

/* Under qemu-user, /proc has system call numbers of another architecture. */
static bool are_numbers_ours(void)
{
    const pid_t child = start(sleep_long);
    const struct tracee tracee = {.tid = (uint32_t)child, .pid = (uint32_t)child};
    struct tracee_call call = {.number = -1};

    for (int i = 0; i < MOST_TRIES && call.number != CALL_NANOSLEEP && call.number != SYS_nanosleep; i++) {
        poll(NULL, 0, 1);
        (void)tracee_call(&tracee, &call);
    }
    end(child);
    return call.number == SYS_nanosleep || call.number == CALL_NANOSLEEP;
}

TEST(which_begin_again)
{
    if (!are_numbers_ours()) {
        printf("SKIP which_begin_again: system calls have other numbers here\n");
        return;
    }
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        const pid_t child = start(calls[i].block);
        if (!is_found(child, calls[i].restarts == ALWAYS ||
                      (calls[i].restarts == WITH_HELP && machine_ours()->restarts_late), 0))
            WRONG(calls[i].name);
        if (!is_found(child, calls[i].restarts == ALWAYS, 1))
            WRONG(calls[i].name); /* each interruption would restart its timeout */
        end(child);
    }
}

static void burn(void)
{
    for (volatile unsigned i = 0;; i++)
        ;
}

TEST(running)
{
    const pid_t child = start(burn);
    const struct tracee tracee = {.tid = (uint32_t)child, .pid = (uint32_t)child};
    struct tracee_call call;

    CHECK_NUMBER(tracee_call(&tracee, &call), -EAGAIN);
    end(child);
    CHECK_NUMBER(tracee_call(&tracee, &call), -ENOENT);
}

TEST_MAIN
