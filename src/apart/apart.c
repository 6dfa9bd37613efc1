/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "apart/apart.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apart/apart_opener.h"
#include "apart/apart_rights.h"
#include "base/reading.h"
#include "base/text.h"

#ifndef SYS_close_range /* 5.9 */
#define SYS_close_range 436
#endif

/* An answer comes to some hundred bytes for each address: more is none of ours. */
#define MOST_ANSWER (256 << 20)

static apart_watcher *watcher;
static void *watcher_context;

/* ---- What is closed ---- */

static int compare_numbers(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;

    return a < b ? -1 : a > b;
}

/* From `first` to before `end`. Before 5.9 it takes /proc to know which there are. */
static void close_between(int first, int end)
{
    if (first >= end || !syscall(SYS_close_range, first, end - 1, 0))
        return;
    DIR *directory = opendir("/proc/self/fd");
    const struct dirent *entry;

    while (directory && (entry = readdir(directory))) {
        int fd = atoi(entry->d_name);
        if (fd >= first && fd < end && fd != dirfd(directory) && *entry->d_name != '.')
            close(fd);
    }
    if (directory)
        closedir(directory);
}

/* Maps, rings, reports that are being written, a terminal: none of its business. -ENOMEM or 0. */
static int close_others(const struct apart_job *job, int socket, int answers)
{
    int *kept = calloc(job->keep_count + 3, sizeof(*kept)), next = 0;
    size_t count = 0;

    if (!kept)
        return -ENOMEM;
    for (size_t i = 0; i < job->keep_count; i++)
        if (job->keep[i] >= 0)
            kept[count++] = job->keep[i];
    kept[count++] = socket;
    kept[count++] = answers;
#ifdef __SANITIZE_ADDRESS__
    kept[count++] = STDERR_FILENO; /* what it has to tell */
#endif
    qsort(kept, count, sizeof(*kept), compare_numbers);
    for (size_t i = 0; i < count; i++) {
        close_between(next, kept[i]);
        next = kept[i] + 1;
    }
    close_between(next, INT_MAX);
    free(kept);
    return 0;
}

/* ---- The processes ---- */

/* Whoever began it may have ended before it said that it wants to know. 0 or a negative errno. */
static int end_with(pid_t parent)
{
    int result = prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) ? -errno : 0;

    if (getppid() != parent)
        _exit(1);
    return result;
}

static bool write_all(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;

    while (size) {
        ssize_t written = write(fd, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

/* The opener says when it, too, is no more than it should be, or that it stays more. */
static int wait_for_opener(int socket)
{
    char stays;
    ssize_t got;

    do
        got = recv(socket, &stays, 1, 0);
    while (got < 0 && errno == EINTR);
    if (got != 1)
        return -EPIPE;
    return stays ? APART_KEEPS_RIGHTS : 0;
}

void apart_watch(apart_watcher *new_watcher, void *context)
{
    watcher = new_watcher;
    watcher_context = context;
}

static void tell_watcher(bool begins, bool reader)
{
    if (watcher)
        watcher(watcher_context, begins, reader);
}

static void be_apart(const struct apart_job *job, int answers, int socket, pid_t parent)
{
    struct text answer = {0};

    tell_watcher(true, true);
    int result = close_others(job, socket, answers);

    /* To become nobody takes away what end_with() asks for: that comes behind it. */
    if (!result && (rights_keep_none() || end_with(parent)))
        result = APART_KEEPS_RIGHTS;
    opener_is_at(socket);
    if (!result)
        result = wait_for_opener(socket);
    if (!result && rights_filter_calls(job->machine))
        result = APART_KEEPS_RIGHTS;
    if (!result)
        result = job->work(job->context, &answer);
    if (!result && answer.failed)
        result = -ENOMEM;
    if (result)
        text_clear(&answer);
    /* The result first: where it is missing the work was not done. */
    bool sent = write_all(answers, &result, sizeof(result)) &&
                write_all(answers, answer.data, answer.length);
    text_free(&answer);
    _exit(!sent);
}

/*
 * The opener begins it, while both may still become less than they are, and ends as it ended: with the
 * number of its signal, 0 where there was none.
 */
static void be_opener(const struct apart_job *job, int answers, pid_t parent)
{
    int ends[2], status = 0, result = 0;
    const pid_t own = getpid();
    pid_t child = -1;

    tell_watcher(true, false);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) || (child = fork()) < 0)
        result = -errno;
    if (!child) {
        close(ends[0]);
        be_apart(job, answers, ends[1], own);
    }
    if (result)
        (void)write_all(answers, &result, sizeof(result));
    close(answers);
    if (result)
        _exit(0);
    close(ends[1]);
    const char stays = rights_keep_opening() || end_with(parent);
    if (send(ends[0], &stays, 1, MSG_NOSIGNAL) == 1 && !stays)
        opener_serve(job, ends[0]);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    _exit(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

/* What came is the result and, behind it, the answer. */
static int take_answer(struct text *answer)
{
    int result;

    if (answer->length < sizeof(result))
        return -EBADMSG;
    memcpy(&result, answer->data, sizeof(result));
    answer->length -= sizeof(result);
    memmove(answer->data, answer->data + sizeof(result), answer->length + 1);
    return result > 0 || result < -4095 ? -EBADMSG : result;
}

/* What a terminal sends to all of a group is ours: both end when we do. A pid or a negative errno. */
static pid_t begin(const struct apart_job *job, const int ends[2])
{
    const pid_t own = getpid();
    sigset_t all, before;

    sigfillset(&all);
    bool blocked = !sigprocmask(SIG_SETMASK, &all, &before);
    pid_t child = fork();
    if (!child) {
        close(ends[0]);
        be_opener(job, ends[1], own);
    }
    if (child < 0)
        child = -errno;
    if (blocked)
        sigprocmask(SIG_SETMASK, &before, NULL);
    return child;
}

int apart_run(const struct apart_job *job, struct text *answer, int *signal)
{
    int ends[2], status = 0;

    text_clear(answer);
    *signal = 0;
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    pid_t child = begin(job, ends);
    close(ends[1]);
    int result = child < 0 ? child : read_to_end(ends[0], MOST_ANSWER, answer);
    close(ends[0]);
    if (child < 0)
        return result;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    tell_watcher(false, false);
    if (!result)
        result = take_answer(answer);
    else if (result == -EFBIG) /* longer than any */
        result = -EBADMSG;
    if (result == -EBADMSG)
        *signal = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return result;
}

void apart_explain(int result, int signal, struct text *why)
{
    if (result == APART_KEEPS_RIGHTS)
        text_add(why, "could not give up its rights, and read nothing: let stackbox call prctl(2) and "
                 "capset(2) where a container or a security module refuses them");
    else if (result != -EBADMSG)
        text_format(why, "failed: %s", strerror(-result));
    else if (signal)
        text_format(why, "was ended by signal %d: %s", signal, strsignal(signal));
    else
        text_add(why, "gave no answer that makes sense");
}
