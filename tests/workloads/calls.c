/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * calls [-t THREADS] [-n N] [-c CALL] [-N COMM] [-y] [-w] [-k]
 *
 * Makes exactly N calls of one system call in each of THREADS threads, thread i on the i-th CPU
 * that it may use, and prints `done CALLS=` with what the threads counted themselves. Nothing else
 * in this process makes that call.
 *
 *   -t THREADS   1
 *   -n N         1000
 *   -c CALL      getppid, getpgid, getsid, getuid, geteuid, getgid, sched_yield or a number (getppid)
 *   -N COMM      the command name of all threads; \xNN stands for a byte
 *   -y           gives the CPU to another after each
 *   -w           prints `ready` and waits for SIGUSR2 or a line on stdin before the calls
 *   -k           waits again before the end, so that the process can still be looked at
 */
#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>

#include "arch.h"
#include "word.h"

#define MOST_THREADS 256

struct worker {
    pthread_t thread;
    unsigned index;
    long call;
    int yields;
    uint64_t wanted;
    uint64_t made;
    pthread_barrier_t *start;
};

static const struct {
    const char *name;
    long number;
} calls[] = {
#ifdef SYS_getppid
    { "getppid", SYS_getppid },
#endif
    { "getpgid", SYS_getpgid }, { "getsid", SYS_getsid },   { "getuid", SYS_getuid },
    { "geteuid", SYS_geteuid }, { "getgid", SYS_getgid },
    { "sched_yield", SYS_sched_yield },
};

static long find_call(const char *name)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        if (!strcmp(calls[i].name, name))
            return calls[i].number;
    }
    return (long)number_of(name);
}

static void set_name(const char *escaped)
{
    char name[16] = "", digits[3] = "";
    size_t length = 0;

    while (*escaped && length + 1 < sizeof(name)) {
        if (escaped[0] == '\\' && escaped[1] == 'x' && escaped[2] && escaped[3]) {
            memcpy(digits, escaped + 2, 2);
            name[length++] = (char)strtoul(digits, NULL, 16);
            escaped += 4;
        } else {
            name[length++] = *escaped++;
        }
    }
    prctl(PR_SET_NAME, name);
}

static APART uint64_t make_calls(long call, int yields, uint64_t wanted)
{
    uint64_t made = 0;

    while (made < wanted) {
        call_kernel(call, 0);
        made++;
        if (yields)
            sched_yield();
    }
    return made;
}

static void *work(void *argument)
{
    struct worker *worker = argument;

    pin_to_cpu(worker->index);
    pthread_barrier_wait(worker->start);
    worker->made = make_calls(worker->call, worker->yields, worker->wanted);
    return NULL;
}

/*
 * Waits for SIGUSR2 or a line on stdin. End of file on stdin is not a line: then only the signal
 * counts.
 */
static void wait_for_signal_or_line(int signals)
{
    struct pollfd sources[2] = { { signals, POLLIN, 0 }, { STDIN_FILENO, POLLIN, 0 } };
    struct signalfd_siginfo info;
    char byte;

    for (;;) {
        if (poll(sources, 2, -1) < 0)
            continue;
        if (sources[0].revents && read(signals, &info, sizeof(info)) > 0)
            return;
        if (sources[1].revents) {
            if (read(STDIN_FILENO, &byte, 1) != 1)
                sources[1].fd = -1;
            else if (byte == '\n')
                return;
        }
    }
}

int main(int argc, char **argv)
{
    static struct worker workers[MOST_THREADS];
    unsigned long threads = 1, wanted = 1000;
    int option, yields = 0, signals;
    uint64_t total = 0;
    pthread_barrier_t start;
    sigset_t set;
    long call = find_call("getppid");

    while ((option = next_option(argc, argv, "t:n:c:y")) != -1) {
        switch (option) {
        case 't': threads = number_of(optarg); break;
        case 'n': wanted = number_of(optarg); break;
        case 'c': call = find_call(optarg); break;
        case 'y': yields = 1; break;
        default: return 2;
        }
    }
    if (!threads || threads > MOST_THREADS || optind != argc)
        return 2;
    begin(NULL);
    if (asked.comm)
        set_name(asked.comm);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    signals = signalfd(-1, &set, 0);

    pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (struct worker){
            .index = i, .call = call, .yields = yields, .wanted = wanted, .start = &start
        };
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            return 2;
    }
    if (asked.waits) {
        printf("ready\n");
        wait_for_signal_or_line(signals);
    }
    pthread_barrier_wait(&start);
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        total += workers[i].made;
    }
    printf("done CALLS=%llu\n", (unsigned long long)total);
    if (asked.stays)
        wait_for_signal_or_line(signals);
    return 0;
}
