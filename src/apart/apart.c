/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "apart/apart.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <linux/openat2.h> /* 5.6 */
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apart/apart_places.h"
#include "apart/apart_rights.h"
#include "base/pass_fd.h"
#include "base/reading.h"
#include "base/text.h"

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_close_range /* 5.9 */
#define SYS_close_range 436
#endif

/* An answer comes to some hundred bytes for each address: more is none of ours. */
#define MOST_ANSWER (256 << 20)

/* In the process apart: where it asks the opener. */
static int asks = -1;

static apart_watcher *watcher;
static void *watcher_context;

/* ---- Opening ---- */

/* Where the kernel cannot keep links within the root they are followed as they are. */
static int open_below(const char *root, const char *path, uint64_t flags)
{
    const struct open_how how = {.flags = flags, .resolve = RESOLVE_IN_ROOT};

    if (!root) {
        int plain = open(path, (int)flags);
        return plain < 0 ? -errno : plain;
    }
    int directory = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -errno;
    int fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        fd = openat(directory, path + strspn(path, "/"), (int)flags);
    if (fd < 0)
        fd = -errno;
    close(directory);
    return fd;
}

static int open_plain(const char *root, const char *path)
{
    struct stat about;
    int seen = open_below(root, path, O_PATH | O_CLOEXEC);

    if (seen < 0)
        return seen;
    /* To be opened means something to some of the kernel's own files: it is judged before. */
    int fd = place_has_programs(seen) ? open_seen(seen, &about) : -EINVAL;
    close(seen);
    if (fd == -ENOENT) /* without /proc */
        fd = open_below(root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return fd == -ENODEV ? -EINVAL : fd;
}

/* How, "ROOT\0PATH\0" in one message; of no root it is "". */
struct request {
    unsigned char how;
    char names[2 * PATH_MAX];
};

/* Whatever way it was opened: what is not a place of programs is not handed over. */
static int open_for(const struct apart_job *job, const struct request *request, struct text *told)
{
    const char *root = request->names, *path = root + strlen(root) + 1;
    int fd = -EINVAL;

    if (!request->how)
        fd = open_plain(*root ? root : NULL, path);
    else if (job->open)
        fd = job->open(request->how, root, path, told);
    if (fd < 0 || place_has_programs(fd))
        return fd;
    close(fd);
    return -EINVAL;
}

static bool is_request(const struct request *request, ssize_t size)
{
    const ssize_t length = size - (ssize_t)offsetof(struct request, names);

    return length >= 2 && !request->names[length - 1] &&
           (ssize_t)strlen(request->names) < length - 1;
}

/* After the descriptor comes what is told of it, with its NUL. */
static void serve(const struct apart_job *job, int socket)
{
    struct request request;
    struct text told = {0};

    for (;;) {
        ssize_t size = recv(socket, &request, sizeof(request), 0);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0 || !is_request(&request, size))
            break;
        text_clear(&told);
        int fd = open_for(job, &request, &told);
        int result = pass_fd(socket, told.failed ? -ENOMEM : fd);
        if (fd >= 0)
            close(fd);
        if (!result && request.how)
            result = send(socket, told.length ? told.data : "", told.length + 1, MSG_NOSIGNAL) < 0;
        if (result)
            break;
    }
    text_free(&told);
}

bool apart_is_here(void)
{
    return asks >= 0;
}

static int send_request(unsigned char how, const char *root, const char *path)
{
    struct request request = {.how = how};
    int length = snprintf(request.names, sizeof(request.names), "%s%c%s", root, 0, path);
    ssize_t sent;

    if (length < 0 || (size_t)length >= sizeof(request.names))
        return -ENAMETOOLONG;
    struct iovec piece = {&request, offsetof(struct request, names) + (size_t)length + 1};
    const struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    do
        sent = sendmsg(asks, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : 0;
}

int apart_open(const char *root, const char *path)
{
    if (asks < 0)
        return open_plain(root, path);
    int result = send_request(0, root ? root : "", path);
    return result ? result : take_fd(asks);
}

int apart_ask(unsigned char how, const char *root, const char *path, struct text *told)
{
    char bytes[2 * PATH_MAX];
    struct iovec piece = {bytes, sizeof(bytes)};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    int fd = send_request(how, root, path);
    ssize_t got;

    if (fd)
        return fd;
    fd = take_fd(asks);
    do
        got = recvmsg(asks, &message, 0);
    while (got < 0 && errno == EINTR);
    text_clear(told);
    if (got > 0)
        text_append(told, bytes, strnlen(bytes, (size_t)got));
    if (fd >= 0 && (got <= 0 || told->failed)) {
        close(fd);
        fd = told->failed ? -ENOMEM : -EPIPE;
    }
    return fd;
}

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
    asks = socket;
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
        serve(job, ends[0]);
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
