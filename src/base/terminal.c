/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/util.h"

#ifndef SYS_close_range /* 5.9, the same number on every architecture but alpha */
#define SYS_close_range 436
#endif

/* The alternate screen, if there is one; no line wrap; no cursor. */
#define ENTER "\033[?1049h\033[?7l\033[?25l\033[2J"
/* Without an alternate screen, leave at the bottom. */
#define LEAVE "\033[0m\033[?7h\033[?25h\033[999;1H\033[K\033[?1049l"
#define WIDTH_UNKNOWN 80
/* Move as far right and down as possible, and report the position. */
#define ASK_SIZE "\033[999;999H\033[6n"

static struct terminal {
    bool open;
    int keys;
    int guard;        /* a pipe to the guard: are we drawing? */
    pid_t guard_pid;
    struct termios before;
    struct sigaction stop_before, continue_before;
} terminal = {.keys = -1, .guard = -1};

/* We draw on the terminal, in our modes. Signal handlers use this. */
static volatile sig_atomic_t entered;

bool terminal_size(int fd, struct terminal_size *size)
{
    struct winsize told;

    *size = (struct terminal_size){0};
    if (!isatty(fd))
        return false;
    if (!ioctl(fd, TIOCGWINSZ, &told))
        *size = (struct terminal_size){told.ws_row, told.ws_col};
    return true;
}

unsigned terminal_width(int fd)
{
    struct terminal_size size;

    return !terminal_size(fd, &size) ? 0 : size.columns ? size.columns : WIDTH_UNKNOWN;
}

/* ---- As it was before ---- */

static void restore(void)
{
    (void)write_all(STDOUT_FILENO, LEAVE, strlen(LEAVE));
    tcsetattr(STDOUT_FILENO, TCSANOW, &terminal.before);
}

static void tell_guard(char drawing)
{
    (void)write_all(terminal.guard, &drawing, 1);
}

/* Called from signal handlers, too. */
static void terminal_leave(void)
{
    if (!entered)
        return;
    entered = 0;
    restore();
    tell_guard(0);
}

/*
 * Reads whether we draw until we are gone, then restores the terminal if we did. No signal but
 * SIGKILL ends it, and it keeps only the terminal open.
 */
static _Noreturn void be_guard(int told)
{
    sigset_t all;
    char drawing = 0;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    dup2(told, STDIN_FILENO);
    syscall(SYS_close_range, STDERR_FILENO, ~0U, 0);
    while (read_some(STDIN_FILENO, &drawing, 1) > 0)
        ;
    if (drawing)
        restore();
    _exit(0);
}

static int start_guard(void)
{
    int told[2];

    if (pipe2(told, O_CLOEXEC))
        return -errno;
    terminal.guard_pid = fork();
    int result = terminal.guard_pid < 0 ? -errno : 0;
    if (!terminal.guard_pid) {
        close(told[1]);
        be_guard(told[0]);
    }
    close(told[0]);
    if (result)
        close(told[1]);
    else
        terminal.guard = told[1];
    return result;
}

/* ---- Stopped and continued ---- */

static void take_signals(void);

/* Stops as usual, after giving the terminal back. */
static void on_stop(int signal)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    int error = errno;

    terminal_leave();
    sigaction(signal, &usual, NULL);
    raise(signal);
    take_signals();
    errno = error;
}

/* The program that had the terminal meanwhile may have changed any setting. */
static void on_continue(int signal)
{
    (void)signal;
    entered = 0;
}

static void take_signals(void)
{
    const struct sigaction stop = {.sa_handler = on_stop, .sa_flags = SA_RESTART | SA_NODEFER};
    const struct sigaction go_on = {.sa_handler = on_continue, .sa_flags = SA_RESTART};

    if (terminal.stop_before.sa_handler != SIG_IGN)
        sigaction(SIGTSTP, &stop, NULL);
    sigaction(SIGCONT, &go_on, NULL);
}

/* ---- Open and closed ---- */

bool terminal_places_text(int fd)
{
    const char *term = getenv("TERM");

    return isatty(fd) && term && *term && strcmp(term, "dumb");
}

bool terminal_takes_text(int fd)
{
    struct pollfd polled = {.fd = fd, .events = POLLOUT};

    return poll(&polled, 1, 0) == 1 && polled.revents & POLLOUT;
}

int terminal_open(void)
{
    if (!terminal_places_text(STDOUT_FILENO) || tcgetattr(STDOUT_FILENO, &terminal.before))
        return -ENOTTY;
    int result = start_guard();
    if (result)
        return result;
    terminal.keys = isatty(STDIN_FILENO) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                                         : open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    sigaction(SIGTSTP, NULL, &terminal.stop_before);
    sigaction(SIGCONT, NULL, &terminal.continue_before);
    take_signals();
    terminal.open = true;
    return 0;
}

void terminal_close(void)
{
    if (!terminal.open)
        return;
    terminal.open = false;
    terminal_leave();
    sigaction(SIGTSTP, &terminal.stop_before, NULL);
    sigaction(SIGCONT, &terminal.continue_before, NULL);
    close_fd(terminal.keys);
    terminal.keys = -1;
    close(terminal.guard);
    (void)UNINTERRUPTED(waitpid(terminal.guard_pid, NULL, 0));
}

int terminal_keys(void)
{
    return terminal.keys;
}

/* ---- Ours ---- */

/* A console that is no controlling terminal has no foreground, and keys make no signals. */
static bool is_controlling(void)
{
    return tcgetpgrp(STDOUT_FILENO) >= 0;
}

bool terminal_enter(bool *anew)
{
    struct termios ours = terminal.before;

    *anew = false;
    if ((is_controlling() && tcgetpgrp(STDOUT_FILENO) != getpgrp()) ||
        !terminal_takes_text(STDOUT_FILENO))
        return false;
    if (entered)
        return true;
    ours.c_lflag &= ~(tcflag_t)(ICANON | ECHO | (is_controlling() ? 0 : ISIG));
    ours.c_cc[VMIN] = 1;
    ours.c_cc[VTIME] = 0;
    *anew = true;
    tell_guard(1);
    entered = 1;
    tcsetattr(STDOUT_FILENO, TCSANOW, &ours);
    (void)write_all(STDOUT_FILENO, ENTER, strlen(ENTER));
    return true;
}

void terminal_draw(const struct text *bytes)
{
    if (!bytes->failed)
        (void)write_all(STDOUT_FILENO, bytes->data, bytes->length);
}

void terminal_ask_size(void)
{
    (void)write_all(STDOUT_FILENO, ASK_SIZE, strlen(ASK_SIZE));
}
