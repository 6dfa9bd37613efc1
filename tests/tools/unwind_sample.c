/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * unwind_sample [-n SAMPLES] [-o] COMMAND [ARG]...: runs COMMAND, stops one of its threads at a
 * time at random moments, and walks its stack by tables:
 *
 *     end COUNT NAME           how the walks ended
 *     place COUNT NAME: PLACE  where incomplete walks ended
 *     total SAMPLES ROOT FRAMES
 *
 * FRAMES: of all walks. -o: only COMMAND's own process, no children. Exit: 0; 2 if it cannot tell.
 */
#ifndef __x86_64__
int main(void)
{
    return 2;
}
#else
#include <signal.h>
#include <time.h>

#include "tracee.h"

#define MOST_PLACES 256

static struct tracee tracee;
static unsigned long ends[UNWIND_ENDS], samples, frames;
static struct {
    char text[256];
    unsigned long count;
} places[MOST_PLACES];

static void note_place(const struct walked *walked)
{
    char text[256], place[200];

    snprintf(text, sizeof(text), "%s: %s", tracee_end(walked->end),
             tracee_describe(&tracee, walked->frames[walked->count - 1] - (walked->count > 1), place,
                             sizeof(place)));
    for (size_t i = 0; i < MOST_PLACES; i++)
        if (!places[i].count || !strcmp(places[i].text, text)) {
            memcpy(places[i].text, text, sizeof(text));
            places[i].count++;
            return;
        }
}

static void take(void)
{
    struct walked walked;

    tracee_read_mappings(&tracee);
    tracee_walk(&tracee, &walked);
    samples++;
    ends[walked.end]++;
    frames += walked.count;
    if (walked.end != UNWIND_END_ROOT && walked.count)
        note_place(&walked);
}

/* ---- the threads */

static pid_t threads[4096];
static size_t thread_count;

static void forget(pid_t pid)
{
    for (size_t i = 0; i < thread_count; i++)
        if (threads[i] == pid)
            threads[i] = threads[--thread_count];
}

static void remember(pid_t pid)
{
    forget(pid);
    if (thread_count < sizeof(threads) / sizeof(threads[0]))
        threads[thread_count++] = pid;
}

/* The thread that we interrupted: new threads also stop, as they start, and are not sampled. */
static pid_t asked;

/* Handles one stop or exit. */
static void answer(pid_t pid, int status)
{
    int number = 0;

    if (!WIFSTOPPED(status)) {
        forget(pid);
        return;
    }
    remember(pid);
    if (status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP) {
        if (pid == asked && tracee_stopped(&tracee, pid))
            take();
    } else if (!(status >> 16)) {
        number = WSTOPSIG(status);
    }
    ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)number);
}

static pid_t start(char **command, bool only)
{
    int gate[2], status;
    char byte = 0;

    if (pipe2(gate, O_CLOEXEC))
        exit(2);
    pid_t pid = fork();
    if (!pid) {
        if (read(gate[0], &byte, 1) == 1)
            execvp(command[0], command);
        _exit(127);
    }
    if (ptrace(PTRACE_SEIZE, pid, NULL,
               PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE |
                   (only ? 0 : PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK))) {
        fprintf(stderr, "it cannot be traced\n");
        exit(2);
    }
    remember(pid);
    /* Until the child's exec stop, it runs our own code. */
    if (write(gate[1], &byte, 1) != 1 || waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
        exit(2);
    answer(pid, status);
    return pid;
}

static int64_t used_by(pid_t pid)
{
    struct timespec used = {0};
    clockid_t clock;

    if (!clock_getcpuclockid(pid, &clock))
        clock_gettime(clock, &used);
    return used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
}

/* Lets it use 0.1 to 2.1 ms of CPU time; if it blocks, gives up after 30 ms. */
static void let_run(pid_t pid)
{
    const int64_t until = used_by(pid) + 100000 + rand() % 2000000;
    const struct timespec pause = {.tv_nsec = 300000};

    for (int i = 0; i < 100 && used_by(pid) < until; i++)
        nanosleep(&pause, NULL);
}

static void show(void)
{
    for (int end = 0; end < UNWIND_ENDS; end++)
        if (ends[end])
            printf("end %lu %s\n", ends[end], tracee_end(end));
    for (size_t i = 0; i < MOST_PLACES && places[i].count; i++)
        printf("place %lu %s\n", places[i].count, places[i].text);
    printf("total %lu %lu %lu\n", samples, ends[UNWIND_END_ROOT], frames);
}

int main(int argc, char **argv)
{
    unsigned long wanted = 300;
    bool only = false;
    int option, status;
    pid_t pid;

    while ((option = getopt(argc, argv, "+on:")) > 0) {
        only = only || option == 'o';
        if (option == 'n')
            wanted = strtoul(optarg, NULL, 10);
    }
    if (optind == argc)
        return 2;
    const pid_t first = start(argv + optind, only);
    srand((unsigned)first);
    while (samples < wanted && thread_count) {
        asked = threads[(size_t)rand() % thread_count];
        let_run(asked);
        ptrace(PTRACE_INTERRUPT, asked, NULL, NULL);
        while (thread_count && (pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
            answer(pid, status);
    }
    show();
    kill(first, SIGKILL);
    return 0;
}
#endif
