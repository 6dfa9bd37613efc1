/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * manners WAY [MS]
 *
 * Does what a tracer's stops (ptrace(2)) can disturb, and prints the effects that it sees:
 *
 *   signals     a child queues 1,000 signals with numbers: `signals N in order`
 *   stops       stops and continues a child 20 times, as a shell does: `stops N continues N`
 *   execs       a thread that is not the first executes this program: `execs 1`
 *   leader      the first thread ends before another, which burns MS: `leader 1`, exit 3
 *   threads     2,000 threads, 20 at a time, each burning MS: `count burnt NS`, of them all
 *   processes   200 processes, one after another, each burning MS: `processes N`, N ending as they should
 *   vforks      200 that execute this program: `vforks N`
 *   calls       nine threads, each blocked 20 times until a timeout of 25 ms, in a call of its own, some of
 *               which fail with EINTR when a debugger stops them: `calls N`, those that ended with their timeout
 *   wholes      two threads, each blocked 20 times for 25 ms, in calls that end with a part of what they do when
 *               a debugger stops them: `wholes N`, those that did all
 *   traceme     asks to be traced by its parent: `traceme N`, an errno
 *
 * MS is 2; burning is done in burn_here(), a little longer.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "waits.h"

#define SIGNALS 1000
#define STOPS 20
#define ROUNDS 100
#define AT_ONCE 20
#define PROCESSES 200

static uint64_t wanted = 2000000;
static int program = -1;
static volatile int seen[SIGNALS], seen_count;

static APART void burn_here(uint64_t most)
{
    const uint64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + most;

    FRAME;
    /* Seldom: the C library's path to the clock has no unwind tables. */
    do
        for (volatile int i = 0; i < 100000; i++)
            ;
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until);
}

static void *burner(void *unused)
{
    burn_here(wanted);
    return unused;
}

static void on_signal(int number, siginfo_t *about, void *context)
{
    (void)number, (void)context;
    if (seen_count < SIGNALS)
        seen[seen_count++] = about->si_value.sival_int;
}

static void signals(void)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
    const pid_t self = getpid();
    int right = 0;

    sigaction(SIGRTMIN + 1, &action, NULL);
    const pid_t child = fork();
    for (int i = 0; !child && i < SIGNALS; i++)
        while (sigqueue(self, SIGRTMIN + 1, (union sigval){ .sival_int = i }) && errno == EAGAIN)
            usleep(100);
    if (!child)
        _exit(0);
    while (seen_count < SIGNALS && clock_ns(CLOCK_PROCESS_CPUTIME_ID) < 20000000000)
        burn_here(1000000);
    waitpid(child, NULL, 0);
    while (right < seen_count && seen[right] == right)
        right++;
    printf("signals %d in order\n", right);
}

static void stops(void)
{
    int status, stopped = 0, continued = 0;
    const pid_t child = fork();

    while (!child)
        burn_here(wanted);
    for (int i = 0; i < STOPS; i++) {
        usleep(20000);
        kill(child, SIGSTOP);
        stopped += waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) &&
            WSTOPSIG(status) == SIGSTOP;
        usleep(5000);
        kill(child, SIGCONT);
        continued += waitpid(child, &status, WCONTINUED) == child && WIFCONTINUED(status);
    }
    kill(child, SIGTERM);
    waitpid(child, &status, 0);
    printf("stops %d continues %d\n", stopped, continued + (WTERMSIG(status) == SIGTERM) - 1);
}

static void run_again(const char *way)
{
    char name[] = "manners", copy[16], path[32];
    char *words[] = { name, copy, NULL };

    snprintf(copy, sizeof(copy), "%s", way);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", program);
    execv(path, words);
    _exit(1);
}

static void *executor(void *unused)
{
    run_again("executed");
    return unused;
}

static void execs(void)
{
    pthread_t thread;

    for (int i = 0; i < 8; i++)
        pthread_create(&thread, NULL, burner, NULL);
    usleep(1000);
    pthread_create(&thread, NULL, executor, NULL);
    for (;;)
        burn_here(wanted);
}

static void *last(void *unused)
{
    burn_here(wanted);
    printf("leader 1\n");
    exit(3);
    return unused;
}

static void leader(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, last, NULL);
    pthread_exit(NULL);
}

static void threads(void)
{
    pthread_t made[AT_ONCE];

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < AT_ONCE; i++)
            pthread_create(&made[i], NULL, burner, NULL);
        for (int i = 0; i < AT_ONCE; i++)
            pthread_join(made[i], NULL);
    }
    printf("count burnt %llu\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
}

static void processes(const char *way, int (*be_child)(int))
{
    volatile int right = 0;
    int status;

    for (volatile int i = 0; i < PROCESSES; i++) {
        const pid_t child = be_child ? fork() : vfork();
        if (!child && !be_child)
            run_again("nothing");
        if (!child)
            _exit(be_child(i));
        waitpid(child, &status, 0);
        right = right + (WIFEXITED(status) && WEXITSTATUS(status) == (be_child ? i % 100 : 0));
    }
    printf("%s %d\n", way, right);
}

/* ---- calls ---- */

#define MOST_WAYS 16
#define CALLS 20
#define CALL_MS 25

static bool epoll_times_out(void)
{
    struct epoll_event event;
    const int file = epoll_create1(0), result = epoll_wait(file, &event, 1, CALL_MS);

    close(file);
    return !result;
}

static bool socket_times_out(bool by_read)
{
    const struct timeval limit = { .tv_usec = CALL_MS * 1000 };
    int ends[2];
    char byte;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ||
        setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)))
        return false;
    const ssize_t got = by_read ? read(ends[0], &byte, 1) : recv(ends[0], &byte, 1, 0);
    const bool is_late = got < 0 && errno == EAGAIN;
    close(ends[0]);
    close(ends[1]);
    return is_late;
}

static bool recv_times_out(void)
{
    return socket_times_out(false);
}

static bool read_times_out(void)
{
    return socket_times_out(true);
}

/* ---- calls that last until another thread has done its part ---- */

#define MANY_BYTES (200 << 10) /* more than fit into a pipe */

static void *read_late(void *context)
{
    static char bytes[MANY_BYTES];
    size_t left = MANY_BYTES;

    poll(NULL, 0, CALL_MS);
    while (left) {
        const ssize_t got = read(*(int *)context, bytes, left);
        if (got <= 0)
            break;
        left -= (size_t)got;
    }
    return NULL;
}

static bool write_is_whole(void)
{
    static const char bytes[MANY_BYTES];
    pthread_t reader;
    int ends[2];

    if (pipe(ends))
        return false;
    pthread_create(&reader, NULL, read_late, &ends[0]);
    const bool is_whole = write(ends[1], bytes, sizeof(bytes)) == sizeof(bytes);
    close(ends[1]);
    pthread_join(reader, NULL);
    close(ends[0]);
    return is_whole;
}

static void *send_late(void *context)
{
    poll(NULL, 0, CALL_MS);
    send(*(int *)context, ".", 1, 0);
    return NULL;
}

static bool recv_is_whole(void)
{
    pthread_t sender;
    char bytes[2];
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return false;
    send(ends[1], ".", 1, 0);
    pthread_create(&sender, NULL, send_late, &ends[1]);
    const bool is_whole = recv(ends[0], bytes, sizeof(bytes), MSG_WAITALL) == sizeof(bytes);
    pthread_join(sender, NULL);
    close(ends[0]);
    close(ends[1]);
    return is_whole;
}

static bool semaphore_times_out(void)
{
    const struct timespec limit = { .tv_nsec = CALL_MS * 1000000 };
    struct sembuf down = { .sem_op = -1 };
    const int set = semget(IPC_PRIVATE, 1, 0600);
    const bool is_late = semtimedop(set, &down, 1, &limit) < 0 && errno == EAGAIN;

    semctl(set, 0, IPC_RMID);
    return is_late;
}

static bool signal_times_out(void)
{
    const struct timespec limit = { .tv_nsec = CALL_MS * 1000000 };
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 2);
    return sigtimedwait(&set, NULL, &limit) < 0 && errno == EAGAIN;
}

static bool sleep_times_out(void)
{
    const struct timespec limit = { .tv_nsec = CALL_MS * 1000000 };

    return !nanosleep(&limit, NULL);
}

static bool futex_times_out(void)
{
    const struct timespec limit = { .tv_nsec = CALL_MS * 1000000 };
    uint32_t word = 0;

    return futex_wait(&word, 0, &limit) == -ETIMEDOUT;
}

static bool poll_times_out(void)
{
    return !poll(NULL, 0, CALL_MS);
}

static bool select_times_out(void)
{
    struct timeval limit = { .tv_usec = CALL_MS * 1000 };

    return !select(0, NULL, NULL, NULL, &limit);
}

static void *call(void *times_out)
{
    bool (*const function)(void) = (bool (*)(void))(uintptr_t)times_out;
    uintptr_t right = 0;

    for (int i = 0; i < CALLS; i++)
        right += function();
    return (void *)right;
}

static void calls(const char *way, bool (*const *functions)(void))
{
    pthread_t threads[MOST_WAYS];
    int count = 0, right = 0;

    for (; functions[count]; count++)
        pthread_create(&threads[count], NULL, call, (void *)(uintptr_t)functions[count]);
    for (int i = 0; i < count; i++) {
        void *one = NULL;
        pthread_join(threads[i], &one);
        right += (int)(uintptr_t)one;
    }
    printf("%s %d\n", way, right);
}

static bool (*const timeouts[])(void) = {
    epoll_times_out, recv_times_out, read_times_out, semaphore_times_out, signal_times_out,
    sleep_times_out, futex_times_out, poll_times_out, select_times_out, NULL,
};
static bool (*const wholes[])(void) = {write_is_whole, recv_is_whole, NULL};

static int burn_and_end(int number)
{
    burn_here(wanted);
    return number % 100;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";

    program = open("/proc/self/exe", O_RDONLY);
    if (argc > 2)
        wanted = strtoull(argv[2], NULL, 10) * 1000000;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(way, "signals"))
        signals();
    else if (!strcmp(way, "stops"))
        stops();
    else if (!strcmp(way, "execs"))
        execs();
    else if (!strcmp(way, "executed"))
        burn_here(100000000), printf("execs 1\n");
    else if (!strcmp(way, "leader"))
        leader();
    else if (!strcmp(way, "threads"))
        threads();
    else if (!strcmp(way, "processes"))
        processes(way, burn_and_end);
    else if (!strcmp(way, "vforks"))
        processes(way, NULL);
    else if (!strcmp(way, "calls"))
        calls(way, timeouts);
    else if (!strcmp(way, "wholes"))
        calls(way, wholes);
    else if (!strcmp(way, "traceme"))
        printf("traceme %d\n", ptrace(PTRACE_TRACEME, 0, NULL, NULL) ? errno : 0);
    else if (strcmp(way, "nothing"))
        return 2;
    return 0;
}
