/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "run/run.h"

#ifndef SYS_pidfd_open /* 5.3, the same number on every architecture but alpha */
#define SYS_pidfd_open 434
#endif

/* How often to check whether processes have ended, if the kernel has no pidfds. */
#define LOOK_NS 100000000
/* What is polled besides processes: see sleep_until(). */
#define OTHERS 5
/* timeout(1) signals its child, then its process group: a user who asks twice is slower. */
#define REPEATED_NS 1000000000

volatile sig_atomic_t run_stopped;
static volatile sig_atomic_t report_asked;

/* The signals we take over, as they were when we started. */
static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGPIPE, SIGXFSZ, SIGCHLD};
#define ENDING 3 /* the first of these end the run */
static struct sigaction before[COUNT_OF(taken)];
static volatile pid_t passed_to; /* 0: none */

/* What ended the run: only this handler reads and writes it, and nothing interrupts it. */
static struct {
    int signal;
    pid_t sender; /* 0: a terminal, or a process outside of our PID namespace */
    uint64_t time;
} first;

static bool repeats_first(int signal, pid_t sender)
{
    return (sender && sender == first.sender && signal == first.signal) ||
        now_ns() - first.time < REPEATED_NS;
}

static void on_end(int signal, siginfo_t *about, void *context)
{
    /* SI_KERNEL: sent by a terminal, which sends it to the whole process group. */
    const pid_t sender = about->si_code == SI_KERNEL ? 0 : about->si_pid;
    int error = errno;

    (void)context;
    /* The user does not want to wait: the signal's default action follows the handler. */
    if (run_stopped && !repeats_first(signal, sender)) {
        sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        raise(signal);
    }
    if (!run_stopped) {
        first.signal = signal;
        first.sender = sender;
        first.time = now_ns();
        if (passed_to && about->si_code != SI_KERNEL)
            kill(passed_to, signal);
        run_stopped = signal;
    }
    errno = error;
}

static void on_report(int signal)
{
    (void)signal;
    report_asked = 1;
}

static void take_signals(bool command)
{
    /* Reads and writes continue; the wait itself is interrupted all the same. */
    struct sigaction end = {.sa_sigaction = on_end, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction report = {.sa_handler = on_report, .sa_flags = SA_RESTART};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, nothing = {.sa_handler = SIG_DFL};

    sigemptyset(&end.sa_mask);
    for (size_t i = 0; i < COUNT_OF(taken); i++)
        sigaction(taken[i], NULL, &before[i]);
    for (size_t i = 0; i < ENDING; i++)
        sigaddset(&end.sa_mask, taken[i]);
    for (size_t i = 0; i < ENDING; i++)
        if (before[i].sa_handler != SIG_IGN)
            sigaction(taken[i], &end, NULL);
    sigaction(SIGUSR1, &report, NULL);
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);
    /* If SIGCHLD is ignored, the kernel does not keep how a child ended. */
    if (command)
        sigaction(SIGCHLD, &nothing, NULL);
}

void run_give_signals_back(void)
{
    for (size_t i = 0; i < COUNT_OF(taken); i++)
        sigaction(taken[i], &before[i], NULL);
}

static bool has_terminal(void)
{
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return false;
    close(fd);
    return true;
}

static bool is_pipe(int fd)
{
    struct stat about;

    return !fstat(fd, &about) && (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode));
}

int run_open(struct run *run, const struct run_config *config, uint32_t *missing)
{
    *run = (struct run){.config = *config, .watched = -1, .keys = -1,
                        .command_fd = -1, .go = -1};
    take_signals(config->command);
    /* On a console that controls no process. Input from a file or a pipe is meant for others. */
    run->by_enter = !config->command && !config->duration && isatty(STDIN_FILENO) &&
        !has_terminal();
    run->watches_reader = is_pipe(STDOUT_FILENO);
    run->polled = calloc(OTHERS + config->pid_count, sizeof(*run->polled));
    if (!run->polled)
        return -ENOMEM;
    run->processes = run->polled + OTHERS;
    for (size_t i = 0; i < config->pid_count; i++)
        run->processes[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    for (size_t i = 0; i < config->pid_count; i++) {
        run->processes[i].fd = (int)syscall(SYS_pidfd_open, config->pids[i], 0);
        if (run->processes[i].fd < 0 && !task_exists(config->pids[i])) {
            *missing = config->pids[i];
            return -ESRCH;
        }
    }
    return 0;
}

void run_close(struct run *run)
{
    for (size_t i = 0; run->polled && i < run->config.pid_count; i++)
        close_fd(run->processes[i].fd);
    free(run->polled);
    run->polled = NULL;
    run_let_command_go(run, false);
    close_fd(run->command_fd);
    run->command_fd = -1;
}

void run_hold_command(struct run *run, pid_t command, int go)
{
    run->command = passed_to = command;
    run->command_fd = (int)syscall(SYS_pidfd_open, command, 0);
    run->go = go;
}

void run_let_command_go(struct run *run, bool to_begin)
{
    if (run->go < 0)
        return;
    run->command_went = to_begin && !run_stopped && !write_all(run->go, "", 1);
    close(run->go);
    run->go = -1;
}

void run_forget_command(void)
{
    passed_to = 0;
}

void run_start(struct run *run)
{
    run->start = now_ns();
    run->next_tick = run->start + run->tick;
    run_let_command_go(run, true);
}

double run_elapsed(const struct run *run)
{
    return (double)(now_ns() - run->start) / 1e9;
}

/* True if all processes asked for have ended. */
static bool processes_ended(struct run *run)
{
    bool any = run->config.pid_count == 0;

    for (size_t i = 0; i < run->config.pid_count && !any; i++)
        any = run->processes[i].fd >= 0 ? poll(&run->processes[i], 1, 0) == 0
                                        : task_exists(run->config.pids[i]);
    if (!any && run->config.live_on)
        any = run->config.live_on(run->config.context);
    return !any;
}

static bool command_ended(const struct run *run)
{
    siginfo_t about = {0};

    if (!run->command)
        return false;
    int result = waitid(P_PID, (id_t)run->command, &about, WEXITED | WNOHANG | WNOWAIT);
    return about.si_pid || (result && errno == ECHILD);
}

/* Reads a line that was typed: a newline in it means the end. */
static bool enter_pressed(struct run *run)
{
    char typed[256];
    ssize_t got = read(STDIN_FILENO, typed, sizeof(typed));

    if (got <= 0 && !(got < 0 && (errno == EINTR || errno == EAGAIN)))
        run->by_enter = false; /* end of file is not an Enter */
    return got > 0 && memchr(typed, '\n', (size_t)got);
}

/* Is the next tick near? If we are awake anyway, it comes a little early. */
static bool is_near(const struct run *run, uint64_t now)
{
    return run->tick && now + run->tick / 4 >= run->next_tick;
}

/* When something is due without any event: UINT64_MAX is never. */
static uint64_t next_deadline(const struct run *run)
{
    const struct run_config *config = &run->config;
    bool looks = run->command && run->command_fd < 0;
    uint64_t next = UINT64_MAX;

    if (config->interval)
        next = run->start + (run->reports + 1) * config->interval;
    if (config->duration && run->start + config->duration < next)
        next = run->start + config->duration;
    if (run->tick && run->next_tick < next)
        next = is_near(run, now_ns()) ? 0 : run->next_tick;
    /* Without a pidfd, looks from time to time whether a process has ended. */
    for (size_t i = 0; i < config->pid_count; i++)
        looks = looks || run->processes[i].fd < 0;
    if (looks && now_ns() + LOOK_NS < next)
        next = now_ns() + LOOK_NS;
    return next;
}

/*
 * Sleeps until a descriptor, a signal or the deadline; returns whether Enter was pressed. All
 * signals that matter are blocked except during the sleep itself.
 */
static bool sleep_until(struct run *run, uint64_t deadline)
{
    struct pollfd *polled = run->polled;
    sigset_t held, usual;
    bool enter = false;

    int in = run->by_enter ? STDIN_FILENO : -1, out = run->watches_reader ? STDOUT_FILENO : -1;
    polled[0] = (struct pollfd){.fd = in, .events = POLLIN};
    polled[1] = (struct pollfd){.fd = out};
    polled[2] = (struct pollfd){.fd = run->watched, .events = POLLIN};
    polled[3] = (struct pollfd){.fd = run->keys, .events = POLLIN};
    polled[4] = (struct pollfd){.fd = run->command_fd, .events = POLLIN};

    sigfillset(&held);
    sigprocmask(SIG_SETMASK, &held, &usual);
    uint64_t now = now_ns(), left = deadline > now ? deadline - now : 0;
    struct timespec wait = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
    run->watched_is_ready = run->keys_are_ready = false;
    if (!run_stopped && !report_asked &&
        ppoll(polled, OTHERS + run->config.pid_count, deadline == UINT64_MAX ? NULL : &wait,
              &usual) > 0) {
        if (polled[0].revents)
            enter = enter_pressed(run);
        if (polled[1].revents & (POLLERR | POLLHUP | POLLNVAL))
            run->reader_is_gone = true;
        run->watched_is_ready = polled[2].revents;
        run->keys_are_ready = polled[3].revents;
    }
    sigprocmask(SIG_SETMASK, &usual, NULL);
    return enter;
}

static bool tick_is_due(struct run *run, uint64_t now)
{
    if (!is_near(run, now))
        return false;
    run->next_tick = now + run->tick;
    return true;
}

/* Skips whole intervals that are over; a report that took longer than one leaves none behind. */
static bool interval_is_over(struct run *run, uint64_t now)
{
    if (!run->config.interval)
        return false;
    uint64_t over = (now - run->start) / run->config.interval;
    if (over <= run->reports)
        return false;
    run->reports = over;
    return true;
}

enum run_event run_wait(struct run *run)
{
    for (;;) {
        bool enter = sleep_until(run, next_deadline(run));
        uint64_t now = now_ns();
        bool timed_out = run->config.duration && now - run->start >= run->config.duration;
        if (enter || timed_out || run_stopped || run->reader_is_gone || processes_ended(run) ||
            command_ended(run))
            return RUN_END;
        if (report_asked) {
            report_asked = 0;
            return RUN_REPORT;
        }
        if (interval_is_over(run, now))
            return RUN_REPORT;
        if (run->keys_are_ready)
            return RUN_KEYS;
        if (run->watched_is_ready)
            return RUN_WATCHED;
        if (tick_is_due(run, now))
            return RUN_TICK;
    }
}
