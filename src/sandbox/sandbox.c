/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "sandbox/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/opening.h"
#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"
#include "sandbox/privileges.h"

/* In the sandbox: its socket to the broker, for sandbox_open() and sandbox_ask(). */
static int asks = -1;

static int open_plain(const char *root, const char *path)
{
    struct text resolved = {0};
    int fd = policy_open(root ? root : "", path, &resolved);

    text_free(&resolved);
    return fd == -EISDIR ? -EINVAL : fd;
}

/* The way of opening, and "ROOT\0PATH\0", in one message; ROOT is "" if there is none. */
struct request {
    unsigned char how;
    char names[2 * PATH_MAX];
};

/* Whichever way opened it, a file that policy_allows() forbids is not handed over. */
static int open_for(const struct sandbox_job *job, const struct request *request, struct text *told)
{
    const char *root = request->names, *path = root + strlen(root) + 1;
    int fd = -EINVAL;

    if (!request->how)
        fd = open_plain(root, path);
    else if (job->open)
        fd = job->open(request->how, root, path, told);
    if (fd < 0 || policy_allows(fd))
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

/*
 * In the broker: answers requests from this socket until it closes. After each descriptor goes the
 * text about it, with its NUL, if `how` is not 0.
 */
static void broker_serve(const struct sandbox_job *job, int socket)
{
    struct request request;
    struct text told = {0};

    for (;;) {
        ssize_t size = UNINTERRUPTED(recv(socket, &request, sizeof(request), 0));
        if (size < 0 || !is_request(&request, size))
            break;
        text_clear(&told);
        int fd = open_for(job, &request, &told);
        int result = pass_fd(socket, told.failed ? -ENOMEM : fd);
        close_fd(fd);
        if (!result && request.how)
            result = send(socket, text_string(&told), told.length + 1, MSG_NOSIGNAL) < 0;
        if (result)
            break;
    }
    text_free(&told);
}

bool sandbox_is_here(void)
{
    return asks >= 0;
}

static int send_request(unsigned char how, const char *root, const char *path)
{
    struct request request = {.how = how};
    int length = snprintf(request.names, sizeof(request.names), "%s%c%s", root, 0, path);

    if (length < 0 || (size_t)length >= sizeof(request.names))
        return -ENAMETOOLONG;
    struct iovec piece = {&request, offsetof(struct request, names) + (size_t)length + 1};
    const struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    return UNINTERRUPTED(sendmsg(asks, &message, MSG_NOSIGNAL)) < 0 ? -errno : 0;
}

int sandbox_open(const char *root, const char *path)
{
    if (asks < 0)
        return open_plain(root, path);
    int result = send_request(0, root ? root : "", path);
    return result ? result : take_fd(asks);
}

int sandbox_ask(unsigned char how, const char *root, const char *path, struct text *told)
{
    char bytes[2 * PATH_MAX];
    struct iovec piece = {bytes, sizeof(bytes)};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    int fd = send_request(how, root, path);

    if (fd)
        return fd;
    fd = take_fd(asks);
    const ssize_t got = UNINTERRUPTED(recvmsg(asks, &message, 0));
    text_clear(told);
    if (got > 0)
        text_append(told, bytes, strnlen(bytes, (size_t)got));
    if (fd >= 0 && (got <= 0 || told->failed)) {
        close(fd);
        fd = told->failed ? -ENOMEM : -EPIPE;
    }
    return fd;
}

int sandbox_readable(int fd)
{
    char link[32];

    if (!(fcntl(fd, F_GETFL) & O_PATH))
        return fd;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    return sandbox_open(NULL, link);
}

#ifndef SYS_close_range /* 5.9 */
#define SYS_close_range 436
#endif

/* An answer takes some hundred bytes per address: a longer one is malicious or broken. */
#define MOST_ANSWER (256 << 20)

/* What a pipe holds, unless it was changed. */
#define PIPE_BYTES 65536

/* How long to wait for a process that has answered, for a trial, and for one that was killed. */
#define MOST_EXIT_US 1000000
#define MOST_TRIAL_US 500000
#define MOST_KILL_US 100000

static sandbox_watcher *watcher;
static void *watcher_context;
static sandbox_memory *memory;

/* ---- What is closed ---- */

static int compare_numbers(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;

    return a < b ? -1 : a > b;
}

static bool is_anonymous(int directory, const char *name)
{
    static const char inode[] = "anon_inode:";
    char target[sizeof(inode)];

    return readlinkat(directory, name, target, sizeof(target)) >= (ssize_t)sizeof(inode) - 1 &&
           !memcmp(target, inode, sizeof(inode) - 1);
}

/* Closes from `first` to before `end`, by /proc, which lists what is open. */
static void close_each(int first, int end, bool anonymous_alone)
{
    DIR *directory = opendir("/proc/self/fd");
    const struct dirent *entry;

    while (directory && (entry = readdir(directory))) {
        int fd = atoi(entry->d_name);
        if (fd >= first && fd < end && fd != dirfd(directory) && *entry->d_name != '.' &&
            (!anonymous_alone || is_anonymous(dirfd(directory), entry->d_name)))
            close(fd);
    }
    if (directory)
        closedir(directory);
}

/* close_range(2) exists since 5.9. */
static void close_between(int first, int end)
{
    if (first < end && syscall(SYS_close_range, first, end - 1, 0))
        close_each(first, end, false);
}

void close_all_but(int *kept, size_t count)
{
    int next = 0;

    qsort(kept, count, sizeof(*kept), compare_numbers);
    for (size_t i = 0; i < count; i++) {
        close_between(next, kept[i]);
        next = kept[i] + 1;
    }
    close_between(next, INT_MAX);
}

/* The reader must not have our maps, rings, unfinished reports and terminal. -ENOMEM or 0. */
static int close_others(const int *keep, size_t keep_count, int socket, int answers)
{
    int *kept = calloc(keep_count + 3, sizeof(*kept));
    size_t count = 0;

    if (!kept)
        return -ENOMEM;
    for (size_t i = 0; i < keep_count; i++)
        if (keep[i] >= 0) {
            kept[count++] = keep[i];
            if (socket < 0) /* later there is no broker to open it */
                dup2(sandbox_readable(keep[i]), keep[i]);
        }
    if (socket >= 0)
        kept[count++] = socket;
    kept[count++] = answers;
#ifdef __SANITIZE_ADDRESS__
    kept[count++] = STDERR_FILENO; /* for messages */
#endif
    close_all_but(kept, count);
    free(kept);
    return 0;
}

/* ---- The processes ---- */

/* The kernel kills us when our parent ends. 0 or a negative errno. */
static int end_with_parent(void)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) ? -errno : 0;
}

/*
 * Our parent may have ended before end_with_parent(). getppid(2) would tell, but the user may be
 * tracing it, and would see our call among the others.
 */
static bool has_a_reader(int answers)
{
    struct pollfd polled = {.fd = answers};

    return poll(&polled, 1, 0) != 1 || !(polled.revents & POLLERR);
}

/* The broker says whether it has given up its rights. If it has ended, so do we. */
static int wait_for_broker(int socket)
{
    char stays;

    if (UNINTERRUPTED(recv(socket, &stays, 1, 0)) != 1)
        _exit(1);
    return stays ? SANDBOX_KEEPS_RIGHTS : 0;
}

void sandbox_watch(sandbox_watcher *new_watcher, void *context)
{
    watcher = new_watcher;
    watcher_context = context;
}

static void tell_watcher(bool begins, unsigned role)
{
    if (watcher)
        watcher(watcher_context, begins, role);
}

static void limit_to(int what, uint64_t wanted)
{
    const rlim_t most = (rlim_t)wanted == wanted ? (rlim_t)wanted : RLIM_INFINITY;
    const struct rlimit limit = {most, most};

    prlimit(0, what, &limit, NULL);
}

void sandbox_bound(sandbox_memory *free_memory)
{
    memory = free_memory;
}

#define STATM_DATA 5 /* the sixth word */

/* How much data this process has already, in bytes. */
static uint64_t own_data(void)
{
    struct text sizes = {0};
    uint64_t pages = 0;

    if (!read_file(AT_FDCWD, "/proc/self/statm", 256, &sizes))
        pages = line_number(sizes.data, STATM_DATA);
    text_free(&sizes);
    return pages * page_bytes();
}

/* A file that needs more gets no names or tables; unbounded, the OOM killer would end a process. */
static uint64_t most_data(const struct sandbox_job *job)
{
    uint64_t most = memory ? memory() / 2 : 0;

    if (job->memory && (!most || most > job->memory))
        most = job->memory;
    const uint64_t own = own_data();
#ifdef __SANITIZE_ADDRESS__
    if (!own)
        return 0; /* it could not be read, and a sanitizer has much more than little */
#endif
    return most ? own + most : 0;
}

/* The pipe for the reader's answer, and whether its first part was sent. */
static int answers_to;
static bool has_sent;

/* The result goes first: an answer without it means that the work was not done. */
static bool send_answer(int result, struct text *answer)
{
    const bool sent = (has_sent || !write_all(answers_to, &result, sizeof(result))) &&
                      !write_all(answers_to, answer->data, answer->length);

    has_sent = true;
    text_clear(answer);
    return sent;
}

bool sandbox_send(struct text *answer)
{
    return !answer->failed && send_answer(0, answer);
}

/* `socket` below 0: it has no broker. */
static void be_sandbox(const struct sandbox_job *job, int answers, int socket)
{
    struct text answer = {0};

    answers_to = answers;
    tell_watcher(true, job->aside ? SANDBOX_ASIDE : SANDBOX_READER);
    /* The CPU limit kills with SIGKILL: all other signals are blocked. */
    limit_to(RLIMIT_CPU, job->seconds ? job->seconds : SANDBOX_MOST_SECONDS);
    int result = close_others(job->keep, job->keep_count, socket, answers);

    /* Becoming another user resets what end_with_parent() sets, which therefore comes second. */
    if (!result && (privileges_keep_none() || end_with_parent()))
        result = SANDBOX_KEEPS_RIGHTS;
    asks = socket;
    if (!result && socket >= 0)
        result = wait_for_broker(socket);
    if (!has_a_reader(answers))
        _exit(1);
    if (!result && privileges_filter_calls())
        result = SANDBOX_KEEPS_RIGHTS;
    if (!result)
        result = job->work(job->context, &answer);
    if (!result && answer.failed)
        result = -ENOMEM;
    if (result)
        text_clear(&answer);
    (void)send_answer(result, &answer);
    text_free(&answer);
    close(answers); /* closing what it read may wait for a file system that does not answer */
    _exit(0);
}

/* The signal that ended it, or 0. Leaves it a zombie, so its pid is not reused. */
static int wait_to_end(pid_t child)
{
    siginfo_t ended = {0};

    (void)UNINTERRUPTED(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT));
    return ended.si_code == CLD_KILLED || ended.si_code == CLD_DUMPED ? ended.si_status : 0;
}

/*
 * The broker forks the reader while both can still give up rights. Its exit status is the signal
 * that ended the reader, or 0.
 */
static void be_broker(const struct sandbox_job *job, int answers)
{
    int ends[2], result = 0;
    pid_t child = -1;

    tell_watcher(true, SANDBOX_BROKER);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) || (child = fork()) < 0)
        result = -errno;
    if (!child) {
        close(ends[0]);
        be_sandbox(job, answers, ends[1]);
    }
    if (result) {
        (void)write_all(answers, &result, sizeof(result));
        _exit(0);
    }
    close(ends[1]);
    /*
     * Our copies of these descriptors would keep programs and events attached even after the tracer
     * closes its own.
     */
    close_each(STDERR_FILENO + 1, INT_MAX, true);
    const char stays = privileges_keep_opening() || end_with_parent();
    if (!has_a_reader(answers))
        _exit(1);
    close(answers);
    if (send(ends[0], &stays, 1, MSG_NOSIGNAL) == 1 && !stays)
        broker_serve(job, ends[0]);
    close(ends[0]);
    const int signal = wait_to_end(child);
    tell_watcher(false, SANDBOX_READER);
    waitpid(child, NULL, 0);
    _exit(signal);
}

/* The pipe carried the result, followed by the answer. */
static int take_answer(struct text *answer)
{
    int result;

    if (answer->length < sizeof(result))
        return -EBADMSG;
    memcpy(&result, answer->data, sizeof(result));
    answer->length -= sizeof(result);
    memmove(answer->data, answer->data + sizeof(result), answer->length + 1);
    /* -EINPROGRESS is ours to say. */
    return result > 0 || result < -4095 || result == -EINPROGRESS ? -EBADMSG : result;
}

/*
 * As fork(), or a negative errno. The child has all signals blocked: what a terminal sends to the
 * whole process group is for us to handle.
 */
static pid_t fork_deaf(void)
{
    sigset_t all, before;

    sigfillset(&all);
    const bool blocked = !sigprocmask(SIG_SETMASK, &all, &before);
    const pid_t child = fork(), result = child < 0 ? -errno : child;
    if (blocked && child)
        sigprocmask(SIG_SETMASK, &before, NULL);
    return result;
}

/* The broker, or a reader without one. A pid or a negative errno. */
static pid_t begin(const struct sandbox_job *job, const int ends[2])
{
    const uint64_t bytes = most_data(job);
    const pid_t child = fork_deaf();

    if (!child) {
        close(ends[0]);
        if (bytes) /* before 4.7 only of what is allocated in small pieces */
            limit_to(RLIMIT_DATA, bytes);
        if (job->asks_nothing)
            be_sandbox(job, ends[1], -1);
        be_broker(job, ends[1]);
    }
    return child;
}

int sandbox_begin(struct sandbox_run *run, const struct sandbox_job *job)
{
    int ends[2];

    *run = (struct sandbox_run){.answer = run->answer, .aside = job->aside};
    text_clear(&run->answer);
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    pid_t child = begin(job, ends);
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return child;
    }
    run->pid = child;
    run->answers = ends[0];
    return 0;
}

/* Does it end within twice `most`? Polls with doubling pauses. */
static bool has_ended(pid_t child, useconds_t most)
{
    siginfo_t ended = {0};

    for (useconds_t pause = 32; !waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT | WNOHANG) &&
                                !ended.si_pid; pause *= 2) {
        if (pause > most)
            return false;
        usleep(pause);
    }
    return true;
}

/*
 * Reaps a run that has ended or was killed. A process that waits for a silent file system cannot
 * even be killed: it is left alone, and keeps its pid. Returns how the reader ended, as be_broker()
 * does.
 */
static int end_run(struct sandbox_run *run, useconds_t most)
{
    const pid_t pid = run->pid;
    struct rusage used = {0};
    int status = 0;

    close(run->answers);
    run->pid = 0;
    if (!has_ended(pid, most))
        return 0;
    tell_watcher(false, run->aside ? SANDBOX_ASIDE : SANDBOX_BROKER);
    (void)UNINTERRUPTED(wait4(pid, &status, 0, &used));
    run->cpu_ns = (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000 +
                  (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

bool sandbox_try(void (*act)(const void *context), const void *context)
{
    const pid_t child = fork_deaf();

    if (!child) {
        tell_watcher(true, SANDBOX_TRIAL);
        close_between(0, INT_MAX);
        if (!end_with_parent())
            act(context);
        _exit(0);
    }
    if (child < 0)
        return true;
    const bool ended = has_ended(child, MOST_TRIAL_US);
    if (!ended)
        kill(child, SIGKILL);
    if (ended || has_ended(child, MOST_KILL_US)) {
        tell_watcher(false, SANDBOX_TRIAL);
        waitpid(child, NULL, 0);
    }
    return ended;
}

static bool has_more(const struct sandbox_run *run, uint64_t until)
{
    struct pollfd polled = {.fd = run->answers, .events = POLLIN};

    for (;;) {
        const uint64_t now = now_ns(), left = until > now ? until - now : 0;
        const int ms = left / 1000000 < INT_MAX ? (int)((left + 999999) / 1000000) : INT_MAX;
        const int ready = poll(&polled, 1, ms);
        if (ready >= 0 || errno != EINTR)
            return ready;
    }
}

/* 0 once everything is there, -EINPROGRESS, or another negative errno. */
static int read_answer(struct sandbox_run *run, uint64_t until)
{
    struct text *answer = &run->answer;

    while (has_more(run, until)) {
        if (!text_reserve(answer, PIPE_BYTES))
            return -ENOMEM;
        const ssize_t got = read_some(run->answers, answer->data + answer->length, PIPE_BYTES);
        if (got <= 0)
            return (int)got;
        answer->length += (size_t)got;
        answer->data[answer->length] = '\0';
        if (answer->length > MOST_ANSWER) /* malicious or broken */
            return -EBADMSG;
    }
    return -EINPROGRESS;
}

int sandbox_take(struct sandbox_run *run, uint64_t until, int *signal)
{
    int result = read_answer(run, until);

    *signal = 0;
    if (result == -EINPROGRESS)
        return result;
    const int ended = end_run(run, MOST_EXIT_US);
    const int given = take_answer(&run->answer);
    if (!result)
        result = given;
    if (result == -EBADMSG || !result)
        *signal = ended;
    return result;
}

#define CHILDREN_LIMIT 256

/* The broker's child, or without a broker the process itself. */
static pid_t reader_of(const struct sandbox_run *run)
{
    struct text text = {0};
    char path[48];
    pid_t child = 0;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", run->pid, run->pid);
    if (!run->aside && !read_file(AT_FDCWD, path, CHILDREN_LIMIT, &text))
        child = atoi(text_string(&text));
    text_free(&text);
    return child ? child : run->pid;
}

/* Is it running or waiting for a CPU, or gone? */
static bool is_runnable(pid_t pid)
{
    struct text stat = {0};
    const char *state = line_word(read_stat_words((uint32_t)pid, &stat), STAT_STATE);
    const bool is = !state || *state == 'R';

    text_free(&stat);
    return is;
}

uint64_t sandbox_silence(struct sandbox_run *run)
{
    const pid_t reader = reader_of(run);
    const uint64_t now = now_ns();
    struct timespec time;
    clockid_t clock;
    uint64_t used = 0;

    if (!clock_getcpuclockid(reader, &clock) && !clock_gettime(clock, &time))
        used = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    if (used != run->used || !run->since ||
        (now - run->since > SANDBOX_SILENCE_NS && is_runnable(reader)))
        run->since = now;
    run->used = used;
    return now - run->since;
}

void sandbox_stop(struct sandbox_run *run)
{
    if (!run->pid)
        return;
    kill(run->pid, SIGKILL);
    end_run(run, MOST_KILL_US);
    (void)take_answer(&run->answer);
}

int sandbox_run(const struct sandbox_job *job, struct text *answer, int *signal)
{
    struct sandbox_run run = {.answer = *answer};

    *signal = 0;
    int result = sandbox_begin(&run, job);
    if (!result) {
        do
            result = sandbox_take(&run, job->waits ? UINT64_MAX : now_ns() + SANDBOX_SILENCE_NS,
                                  signal);
        while (result == -EINPROGRESS && sandbox_silence(&run) < SANDBOX_MOST_SILENCE_NS);
        sandbox_stop(&run);
        if (result == -EINPROGRESS)
            result = -ETIMEDOUT;
    }
    *answer = run.answer;
    return result;
}

void sandbox_explain(int result, int signal, struct text *why)
{
    if (result == SANDBOX_KEEPS_RIGHTS)
        text_add(why, "could not drop its privileges, so it read nothing: allow prctl(2) and "
                 "capset(2) in the container or security module");
    else if (result != -EBADMSG)
        text_format(why, "failed: %s", error_words(result));
    else if (signal)
        text_format(why, "was killed by signal %d", signal);
    else
        text_add(why, "gave no valid answer");
}
