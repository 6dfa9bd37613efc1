/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * reuse [-n N] [-N COMM] [-w] [-k] NORTH SOUTH
 *
 * Three processes, one after another, with the same pid: the first runs the program NORTH, the
 * second is only forked, the third runs SOUTH. Each makes N calls, the second's through main >
 * reuse_outer > reuse_inner, each with one getppid(2). Prints `pid PID` and `done CALLS=` with 3 *
 * N, or `skip` if the pid could not be reused.
 *
 *   -n N         1000
 *   -N COMM      the command name of all
 *   -w, -k       as in other workloads
 *
 * reuse -a PID [-n N] [-N COMM] NORTH
 *
 * One process with the pid or tid of one that has ended runs the program NORTH.
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch.h"
#include "last_pid.h"
#include "word.h"

#define MOST_TRIES 1000

DEFINE_CALLS(reuse)

/* Forks until a child has the wanted pid, which other forks may take first. 0 in the child. */
static pid_t fork_as(pid_t wanted)
{
    pid_t child;
    int go[2];

    for (int tries = 0; tries < MOST_TRIES; tries++) {
        if (pipe(go))
            break;
        child = wanted ? fork_as_pid(wanted) : fork();
        if (!child) {
            char byte;

            /* A child with another pid, or whose parent has ended, does nothing. */
            close(go[1]);
            if (read(go[0], &byte, 1) != 1)
                _exit(0);
            close(go[0]);
            return 0;
        }
        close(go[0]);
        if (child > 0 && (!wanted || child == wanted) && write(go[1], "", 1) == 1) {
            close(go[1]);
            return child;
        }
        close(go[1]);
        if (child < 0)
            break;
        waitpid(child, NULL, 0);
    }
    printf("skip: no pid could be had again\n");
    exit(0);
}

static void finish(pid_t child)
{
    int status;

    if (waitpid(child, &status, 0) != child || status)
        exit(2);
}

static void become(const char *program, const char *n)
{
    int fd = open("/dev/null", O_WRONLY);

    dup2(fd, STDOUT_FILENO);
    execl(program, program, "-n", n, "-N", asked.comm, (char *)NULL);
    _exit(2);
}

int main(int argc, char **argv)
{
    const char *n = "1000";
    int option;
    pid_t child, pid, wanted = 0;
    uint64_t made = 0;

    asked.comm = "reuse";
    while ((option = next_option(argc, argv, "a:n:")) != -1) {
        switch (option) {
        case 'a': wanted = (pid_t)number_of(optarg); break;
        case 'n': n = optarg; break;
        default: return 2;
        }
    }
    if (argc != optind + (wanted ? 1 : 2))
        return 2;
    begin(asked.comm);
    if (wanted) {
        child = fork_as(wanted);
        if (!child)
            become(argv[optind], n);
        finish(child);
        say_done(number_of(n));
        return 0;
    }
    wait_if_asked();
    child = pid = fork_as(0);
    if (!child)
        become(argv[optind], n);
    finish(child);
    child = fork_as(pid);
    if (!child) {
        while (made < number_of(n))
            reuse_outer(&made);
        _exit(0);
    }
    finish(child);
    child = fork_as(pid);
    if (!child)
        become(argv[optind + 1], n);
    finish(child);
    printf("pid %d\n", (int)pid);
    say_done(3 * number_of(n));
    return 0;
}
