/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/say.h"
#include "base/util.h"
#include "run/command.h"

#define MOST_SUGGESTED 4 /* words */

/* Where a command may be, in execvp(3)'s order. */
struct path_walk {
    const char *name, *at; /* the rest of PATH; NULL: nothing */
    char path[PATH_MAX];
};

#define WITHOUT_PATH "/usr/local/bin:/bin:/usr/bin"

/* A name with a slash is used as it is. */
static void path_walk_begin(struct path_walk *walk, const char *name)
{
    const char *path = getenv("PATH");

    walk->name = name;
    walk->at = !*name ? NULL : path ? path : WITHOUT_PATH;
}

/* The next place, valid until the next call; NULL: there are no more. */
static const char *path_walk_next(struct path_walk *walk)
{
    if (walk->at && strchr(walk->name, '/')) {
        walk->at = NULL;
        return walk->name;
    }
    while (walk->at) {
        const char *at = walk->at;
        int length = (int)strcspn(at, ":");
        int size = snprintf(walk->path, sizeof(walk->path), "%.*s%s%s", length, at,
                            length ? "/" : "", walk->name);
        walk->at = at[length] ? at + length + 1 : NULL;
        if (size > 0 && (size_t)size < sizeof(walk->path))
            return walk->path;
    }
    return NULL;
}

/* Would execve(2) accept it? */
static bool path_is_program(const char *path)
{
    struct stat about;

    return !stat(path, &about) && S_ISREG(about.st_mode) && !access(path, X_OK);
}

/* Valid as long as the walk. */
static const char *find_program(struct path_walk *walk, const char *name)
{
    const char *path;

    path_walk_begin(walk, name);
    do
        path = path_walk_next(walk);
    while (path && !path_is_program(path));
    return path;
}

char *path_walk_find(const char *name)
{
    struct path_walk walk;
    const char *path = find_program(&walk, name);

    return path ? realpath(path, NULL) : NULL;
}

void command_init(struct command *command, char **words)
{
    *command = (struct command){.words = words, .failure = -1};
    command->has_limits = !prlimit(0, RLIMIT_NOFILE, NULL, &command->files) &&
                          !prlimit(0, RLIMIT_MEMLOCK, NULL, &command->memory);
}

/* ---- What a command may be ---- */

bool command_exists(const char *name)
{
    struct path_walk walk;

    return find_program(&walk, name);
}

void command_suggest(char *const *words, size_t count, struct text *error)
{
    text_add(error, "did you mean --");
    for (size_t i = 0; i < count && i < MOST_SUGGESTED; i++)
        text_format(error, " %s", words[i]);
    text_add(error, count > MOST_SUGGESTED ? " ...?" : "?");
}

/* ---- The child ---- */

/* A script without a #! line is run by the shell, as in execvp(3). */
static void run_by_shell(const char *path, char **words)
{
    size_t count = 0;

    while (words[count])
        count++;
    char **shell = calloc(count + 2, sizeof(*shell));
    if (!shell)
        return;
    shell[0] = (char *)(uintptr_t)"/bin/sh";
    shell[1] = (char *)(uintptr_t)path;
    for (size_t i = 1; i < count; i++)
        shell[i + 1] = words[i];
    execv(shell[0], shell);
    free(shell);
    errno = ENOEXEC;
}

static void try_path(const char *path, char **words)
{
    execv(path, words);
    if (errno == ENOEXEC)
        run_by_shell(path, words);
}

/* A directory in PATH may be broken, stale or slow: the command may still be in another one. */
static bool may_be_elsewhere(int error)
{
    static const int errors[] = {EACCES, EIO, ESTALE, ENODEV, ETIMEDOUT, ELOOP, ENAMETOOLONG};

    for (size_t i = 0; i < COUNT_OF(errors); i++)
        if (errors[i] == error)
            return true;
    return false;
}

/*
 * Does what execvp(3) does, which differs between libcs. Returns an errno: ENOENT only if the
 * command is in no directory of PATH for certain.
 */
static int execute(char **words)
{
    struct path_walk walk;
    const char *path;
    int why = ENOENT;

    if (strchr(words[0], '/')) {
        try_path(words[0], words);
        return errno;
    }
    path_walk_begin(&walk, words[0]);
    while ((path = path_walk_next(&walk))) {
        try_path(path, words);
        if (errno == ENOENT || errno == ENOTDIR)
            continue;
        if (!may_be_elsewhere(errno))
            return errno;
        why = why == EACCES ? why : errno;
    }
    return why;
}

/* The command prints where stderr goes, as the report goes to stdout. Returns an errno. */
static int print_to_stderr(void)
{
    int flags = fcntl(STDERR_FILENO, F_GETFD);

    if (flags >= 0 && flags & FD_CLOEXEC)
        close(STDOUT_FILENO); /* stderr was closed, and its place is held: see main.c */
    else if (flags < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return errno;
    return 0;
}

/* When the command begins, everything is as it was before us, except for where it prints. */
static void be_command(const struct command *command, int go, int failure, bool stdout_is_free)
{
    char byte;
    int error = 0;

    if (command->has_limits) {
        prlimit(0, RLIMIT_NOFILE, &command->files, NULL);
        prlimit(0, RLIMIT_MEMLOCK, &command->memory, NULL);
    }
    if (!stdout_is_free)
        error = print_to_stderr();
    if (command->is_traced)
        prctl(PR_SET_PTRACER, getppid()); /* Yama would refuse the tracer, a child of ours */
    /* The process that held us is gone, or does not want us to run. */
    if (read_some(go, &byte, 1) != 1)
        _exit(EXIT_TRACER);
    error = error ? error : execute(command->words);
    if (write(failure, &error, sizeof(error)) < 0)
        error = EIO;
    _exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN);
}

/* ---- The parent ---- */

static void close_pair(const int *pair)
{
    close_fd(pair[0]);
    close_fd(pair[1]);
}

int command_hold(struct command *command, struct run *run, bool stdout_is_free)
{
    int go[2] = {-1, -1}, failure[2] = {-1, -1};
    sigset_t all, before;

    if (pipe2(go, O_CLOEXEC) || pipe2(failure, O_CLOEXEC)) {
        int result = -errno;
        close_pair(go);
        return result;
    }
    /* None of our handlers may run in the child. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    int result = pid < 0 ? -errno : 0;
    if (!pid) {
        close(go[1]);
        run_give_signals_back();
        sigprocmask(SIG_SETMASK, &before, NULL);
        be_command(command, go[0], failure[1], stdout_is_free);
    }
    if (!result) {
        command->pid = pid;
        command->failure = failure[0];
        run_hold_command(run, pid, go[1]);
        failure[0] = go[1] = -1;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close_pair(go);
    close_pair(failure);
    return result;
}

static void read_failure(struct command *command)
{
    int error;

    if (read_some(command->failure, &error, sizeof(error)) == sizeof(error))
        command->error = error;
}

bool command_is_not_run(struct command *command)
{
    struct pollfd polled = {.fd = command->failure, .events = POLLIN};

    if (command->pid && !command->error && poll(&polled, 1, 0) == 1)
        read_failure(command);
    return command->error;
}

static void say_failure(struct command *command)
{
    if (!command->error)
        read_failure(command);
    if (command->error)
        say("cannot run \"%s\": %s", command->words[0], strerror(command->error));
}

/* A child's status as in a shell. */
static int wait_for(pid_t pid)
{
    siginfo_t about;
    int status;

    /* Signals are passed on to it until its pid may be reused. */
    (void)UNINTERRUPTED(waitid(P_PID, (id_t)pid, &about, WEXITED | WNOWAIT));
    run_forget_command();
    if (UNINTERRUPTED(waitpid(pid, &status, 0)) < 0) {
        say("cannot get the command's exit status: %s", strerror(errno));
        return EXIT_TRACER;
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int command_finish(struct command *command, struct run *run, int status)
{
    int ended = EXIT_TRACER;

    run_let_command_go(run, false);
    if (command->pid) {
        ended = wait_for(command->pid);
        say_failure(command);
        close(command->failure);
    }
    if (status == EXIT_USAGE)
        return status;
    if (!run->command_went && run_stopped)
        return 128 + run_stopped;
    return status || !run->command_went ? EXIT_TRACER : ended;
}
