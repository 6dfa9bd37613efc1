/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * session [--limit S] [--terminal [--columns N] | --console] COMMAND...
 *
 * Runs COMMAND in a session of its own, with signals as a user's shell would leave them. Scripts
 * need this because their `COMMAND &` starts with SIGINT ignored.
 *
 *   --limit S    SIGALRM ends COMMAND after S seconds
 *   --terminal   COMMAND gets a new terminal of 80 columns as its controlling one. What is read
 *                from stdin is typed there (\003 is Ctrl-C); what it prints comes out of stdout.
 *   --columns N  of N columns
 *   --console    a new terminal that controls no process, as the console of a rescue shell
 *
 * Without a terminal COMMAND replaces this process, and has no controlling terminal.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
    fprintf(stderr, "session: %s: %s\n", what, strerror(errno));
    exit(125);
}

static void run(char **command, unsigned limit)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* An alarm outlives execve. */
    alarm(limit);
    execvp(command[0], command);
    die(command[0]);
}

static unsigned short columns = 80;

static int open_terminal(char *name, size_t size)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
        die("no terminal");
    if (ptsname_r(terminal, name, size))
        die("no terminal");
    return terminal;
}

static void take_terminal(const char *name, int controls)
{
    struct winsize window = { .ws_row = 25, .ws_col = columns };
    int terminal;

    setsid();
    terminal = open(name, O_RDWR | O_NOCTTY);
    if (terminal < 0 || (controls && ioctl(terminal, TIOCSCTTY, 0)))
        die(name);
    ioctl(terminal, TIOCSWINSZ, &window);
    dup2(terminal, STDIN_FILENO);
    dup2(terminal, STDOUT_FILENO);
    dup2(terminal, STDERR_FILENO);
    if (terminal > STDERR_FILENO)
        close(terminal);
}

static int copy(int from, int to)
{
    char bytes[4096];
    ssize_t size = read(from, bytes, sizeof(bytes));

    return size > 0 && write(to, bytes, (size_t)size) == size;
}

/* Once the last process has closed the terminal, reading the master fails with EIO. */
static void relay(int terminal)
{
    struct pollfd sources[2] = { { terminal, POLLIN, 0 }, { STDIN_FILENO, POLLIN, 0 } };

    for (;;) {
        if (poll(sources, 2, -1) < 0)
            continue;
        if (sources[0].revents && !copy(terminal, STDOUT_FILENO))
            return;
        if (sources[1].revents && !copy(STDIN_FILENO, terminal))
            sources[1].fd = -1;
    }
}

int main(int argc, char **argv)
{
    int with_terminal = 0, controls = 1, terminal, status;
    unsigned limit = 0;
    int started[2];
    char name[64], byte;
    pid_t child;

    for (argv++, argc--; argc && !strncmp(argv[0], "--", 2); argv++, argc--) {
        if (!strcmp(argv[0], "--limit") && argc > 1) {
            limit = (unsigned)atoi(argv[1]);
            argv++, argc--;
        } else if (!strcmp(argv[0], "--columns") && argc > 1) {
            columns = (unsigned short)atoi(argv[1]);
            argv++, argc--;
        } else if (!strcmp(argv[0], "--terminal")) {
            with_terminal = 1;
        } else if (!strcmp(argv[0], "--console")) {
            with_terminal = 1;
            controls = 0;
        } else {
            argc = 0;
            break;
        }
    }
    if (!argc) {
        fprintf(stderr, "usage: session [--limit S] [--terminal [--columns N] | --console] COMMAND...\n");
        return 125;
    }
    if (!with_terminal) {
        setsid();
        run(argv, limit);
    }
    terminal = open_terminal(name, sizeof(name));
    if (pipe2(started, O_CLOEXEC))
        die("pipe");
    child = fork();
    if (child < 0)
        die("fork");
    if (!child) {
        take_terminal(name, controls);
        run(argv, limit);
    }
    /* A Ctrl-C typed before COMMAND has the terminal would send it no signal. */
    close(started[1]);
    if (read(started[0], &byte, 1) < 0)
        die("pipe");
    relay(terminal);
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
