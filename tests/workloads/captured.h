/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Runs a program and captures everything that it prints, through pipes or a terminal. It needs no
 * shell and no file.
 */
#ifndef STACKBOX_WORKLOADS_CAPTURED_H
#define STACKBOX_WORKLOADS_CAPTURED_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define LIMIT 100 /* seconds until SIGALRM */

/* The descriptors to which `known` writes its count, and from which it reads the go-ahead. */
#define RESULT_FD "30"
#define GO_FD "31"

struct way_to_run {
    long uid;           /* below 0: unchanged */
    const char *closed; /* the digits of descriptors that are closed first */
    long columns;       /* below 0: pipes, no terminal */
};

/* The results of one run. On a terminal `out` has stderr, too. */
static struct captured {
    char out[1 << 20], err[1 << 16], result[64];
    size_t out_size, err_size, result_size;
    int status;
    double known, most; /* from RESULT_FD: the count, and its upper bound; < 0: none */
} captured;

static struct {
    int in[2], out[2], err[2], result[2], go[2];
} ends;

static void cannot(const char *what)
{
    perror(what);
    exit(125);
}

static void make_pipe(int *pair)
{
    if (pipe2(pair, O_CLOEXEC))
        cannot("pipe");
}

/* Opens a raw terminal, which does not turn "\n" into "\r\n". */
static void make_terminal(long columns)
{
    struct winsize window = { .ws_row = 25, .ws_col = (unsigned short)columns };
    struct termios raw;
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
        cannot("no terminal");
    int side = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (side < 0 || tcgetattr(side, &raw))
        cannot("no terminal");
    cfmakeraw(&raw);
    tcsetattr(side, TCSANOW, &raw);
    ioctl(side, TIOCSWINSZ, &window);
    ends.out[0] = terminal;
    ends.out[1] = ends.err[1] = side;
    ends.err[0] = -1;
}

static void become_user(long uid)
{
    unsigned id = (unsigned)uid;

    if (uid >= 0 && (setgroups(0, NULL) || setresgid(id, id, id) || setresuid(id, id, id)))
        _exit(120);
}

static void open_ends(const struct way_to_run *how)
{
    memset(&captured, 0, sizeof(captured));
    make_pipe(ends.in);
    make_pipe(ends.result);
    make_pipe(ends.go);
    if (how->columns >= 0) {
        make_terminal(how->columns);
        return;
    }
    make_pipe(ends.out);
    make_pipe(ends.err);
}

/*
 * Starts the program to trace, with RESULT_FD and GO_FD: run_captured() gives the go-ahead when
 * tracing has begun.
 */
static pid_t start_beside(const struct way_to_run *how, const char *const *words)
{
    pid_t child = fork();

    if (child)
        return child;
    become_user(how->uid);
    if (dup2(ends.result[1], atoi(RESULT_FD)) < 0 || dup2(ends.go[0], atoi(GO_FD)) < 0)
        _exit(121);
    alarm(LIMIT);
    execv(words[0], (char *const *)words);
    _exit(127);
}

static void become(const struct way_to_run *how, const char *const *words, int has_result)
{
    const int from[] = { ends.in[0], ends.out[1], ends.err[1] };

    become_user(how->uid);
    if (how->columns >= 0)
        setsid();
    if (has_result && dup2(ends.result[1], atoi(RESULT_FD)) < 0)
        _exit(121);
    for (int i = 0; i < 3; i++) {
        if (dup2(from[i], i) < 0 || (i == 1 && how->columns >= 0 && ioctl(1, TIOCSCTTY, 0)))
            _exit(121);
        if (strchr(how->closed, '0' + i))
            close(i);
    }
    alarm(LIMIT);
    execv(words[0], (char *const *)words);
    _exit(127);
}

/* Appends new data from a descriptor, and drops what does not fit. Returns 0 at the end. */
static int take(struct pollfd *from, char *text, size_t *size, size_t room)
{
    char bytes[4096];
    ssize_t got = from->revents ? read(from->fd, bytes, sizeof(bytes)) : -1;

    if (got <= 0)
        return !(from->revents && (got == 0 || errno != EINTR));
    if ((size_t)got > room - 1 - *size)
        got = (ssize_t)(room - 1 - *size);
    memcpy(text + *size, bytes, (size_t)got);
    *size += (size_t)got;
    text[*size] = 0;
    return 1;
}

static void let_go(int word)
{
    if (ends.go[1] < 0 || (word && write(ends.go[1], "", 1) != 1))
        return;
    close(ends.go[1]);
    ends.go[1] = -1;
}

static void take_all(void)
{
    struct pollfd from[3] = {
        { ends.out[0], POLLIN, 0 }, { ends.err[0], POLLIN, 0 }, { ends.result[0], POLLIN, 0 }
    };

    while (from[0].fd >= 0 || from[1].fd >= 0 || from[2].fd >= 0) {
        if (poll(from, 3, -1) < 0)
            continue;
        if (!take(&from[0], captured.out, &captured.out_size, sizeof(captured.out)))
            from[0].fd = -1;
        if (!take(&from[1], captured.err, &captured.err_size, sizeof(captured.err)))
            from[1].fd = -1;
        if (!take(&from[2], captured.result, &captured.result_size, sizeof(captured.result)))
            from[2].fd = -1;
        if (strstr(captured.err, "Tracing ") || strstr(captured.out, "Tracing "))
            let_go(1);
        else if (from[0].fd < 0 && from[1].fd < 0)
            let_go(0); /* stackbox was refused: the program's read ends without a go-ahead */
    }
}

/*
 * Runs a program to its end; call open_ends() before. `beside` is the pid from start_beside(); 0:
 * this program has RESULT_FD.
 */
static void run_captured(const struct way_to_run *how, const char *const *words, const char *input, size_t size,
                     pid_t beside)
{
    int status = 0;

    if (input && write(ends.in[1], input, size ? size : strlen(input)) < 0)
        cannot("write");
    pid_t child = fork();
    if (!child)
        become(how, words, !beside);
    close(ends.in[0]);
    close(ends.in[1]);
    close(ends.out[1]);
    if (ends.err[0] >= 0)
        close(ends.err[1]);
    close(ends.result[1]);
    close(ends.go[0]);
    take_all();
    let_go(0);
    close(ends.out[0]);
    close(ends.err[0]);
    close(ends.result[0]);
    waitpid(child, &status, 0);
    captured.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (beside)
        waitpid(beside, NULL, 0);
    captured.known = captured.most = -1;
    if (captured.result_size)
        sscanf(captured.result, "%lf %lf", &captured.known, &captured.most);
}

#endif
