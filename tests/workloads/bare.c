/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bare [-d | -m] [-w] WAY NUMBER
 *
 * Code without frame pointers, whose frame pointer register holds a value that looks like one. The
 * stack of each event is known: main, outer, middle, inner, and the function that inner calls.
 *
 *   spins MS   uses up so much CPU time in inner()
 *   calls N    N times getppid(2), of leaf(), which has no frame
 *   naps N     sleeps 20 ms N times in nap()
 *   tells N    sleeps 20 ms and then writes a byte to descriptor 3 in tell(), N times
 *   vforks N   makes N children in beget() by vfork(2), which end at once
 *   spawns N   makes N children in breed() by posix_spawn(3), of a program that does not exist
 *   forks N    N children do, each in its inner(), one getppid(2) and end
 *   wide N     as calls, below a frame of 20 KB of which only an end is ever touched: main, wide, outer ...
 *   threads N  a thread calls outer(), which does as `calls` does
 *   signals N  so does a signal's handler
 *   contexts N and a function of makecontext(3): glibc's alone
 *
 * With -d it deletes its own file before anything else. With -m it executes itself again, from a memfd, keeps
 * its name, and that value is 0, as at the root of a stack. With -w it says `ready` first and waits for SIGUSR2
 * (word.h); `done` at the end.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "arch.h"
#include "word.h"

/* gcc would still clone such functions, and rename the clones. */
#if defined(__clang__)
#define OWN APART
#else
#define OWN __attribute__((noclone)) APART
#endif

/* Leads a walk by frame pointers to frames that do not exist; with -m, to the end of all frames. */
static uint64_t fake[] = {0, 0x440008, 0x440108};
#if defined(__riscv) || defined(__loongarch__)
static uint64_t *astray = fake + 2;
#else
static uint64_t *astray = fake;
#endif
#if defined(__x86_64__)
#define LEAD_ASTRAY() __asm__ volatile("mov %0, %%rbp" : : "m"(astray) : "rbp")
#elif defined(__aarch64__)
#define LEAD_ASTRAY() __asm__ volatile("mov x29, %0" : : "r"(astray) : "x29")
#elif defined(__riscv)
#define LEAD_ASTRAY() __asm__ volatile("mv s0, %0" : : "r"(astray) : "s0")
#elif defined(__loongarch__)
#define LEAD_ASTRAY() __asm__ volatile("move $fp, %0" : : "r"(astray) : "$fp")
#else
#define LEAD_ASTRAY() __asm__ volatile("")
#endif

static OWN long leaf(long number)
{
#if defined(__arm__)
    /* The compiler saves that register, and its tables say so. */
    register long r7 __asm__("r7") = number, r0 __asm__("r0") = 0;

    __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7) : "memory");
    return r0;
#else
    return call_kernel(number, 0);
#endif
}

static OWN void nap(void)
{
    const struct timespec time = {.tv_nsec = 20000000};

    nanosleep(&time, NULL);
    NO_TAIL_CALL;
}

static OWN void tell(void)
{
    const struct timespec time = {.tv_nsec = 20000000};

    nanosleep(&time, NULL);
    if (write(3, "", 1) != 1)
        abort();
    NO_TAIL_CALL;
}

static OWN void beget(void)
{
    const pid_t child = vfork();

    if (!child)
        _exit(0);
    waitpid(child, NULL, 0);
    NO_TAIL_CALL;
}

static OWN void breed(void)
{
    char *const none[] = {NULL};
    pid_t child;

    if (!posix_spawn(&child, "/none", NULL, NULL, none, none))
        waitpid(child, NULL, 0);
    NO_TAIL_CALL;
}

static OWN void spin(uint64_t ms)
{
    uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000;

    do
        for (volatile int i = 0; i < 200000; i++) {
        }
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end);
}

static OWN void inner(const char *way, uint64_t number)
{
    LEAD_ASTRAY();
    if (!strcmp(way, "spins"))
        spin(number);
    for (uint64_t i = 0; !strcmp(way, "calls") && i < number; i++)
        leaf(SYS_getppid);
    for (uint64_t i = 0; !strcmp(way, "naps") && i < number; i++)
        nap();
    for (uint64_t i = 0; !strcmp(way, "tells") && i < number; i++)
        tell();
    for (uint64_t i = 0; !strcmp(way, "vforks") && i < number; i++)
        beget();
    for (uint64_t i = 0; !strcmp(way, "spawns") && i < number; i++)
        breed();
    NO_TAIL_CALL;
}

static OWN void middle(const char *way, uint64_t number)
{
    LEAD_ASTRAY();
    inner(way, number);
    NO_TAIL_CALL;
}

static OWN void outer(const char *way, uint64_t number)
{
    LEAD_ASTRAY();
    middle(way, number);
    NO_TAIL_CALL;
}

static OWN void wide(uint64_t number)
{
    volatile char room[20000];

    room[0] = 0;
    outer("calls", number + (unsigned char)room[0]);
    NO_TAIL_CALL;
}

static void fork_each(uint64_t number)
{
    for (uint64_t i = 0; i < number; i++) {
        pid_t child = fork();
        if (!child) {
            outer("calls", 1);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
}

static uint64_t calls;

static void *run_thread(void *argument)
{
    outer("calls", calls);
    return argument;
}

static void handle(int signal)
{
    (void)signal;
    outer("calls", calls);
    NO_TAIL_CALL;
}

#ifdef __GLIBC__
static void run_context(void)
{
    outer("calls", calls);
    NO_TAIL_CALL;
}

static void switch_context(void)
{
    static char stack[65536];
    static ucontext_t here, there;

    if (getcontext(&there))
        abort();
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof(stack);
    there.uc_link = &here;
    makecontext(&there, run_context, 0);
    swapcontext(&here, &there);
}
#else
static void switch_context(void)
{
}
#endif

static void call_elsewhere(const char *way, uint64_t number)
{
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    pthread_t thread;

    calls = number;
    if (!strcmp(way, "threads") && !pthread_create(&thread, NULL, run_thread, NULL))
        pthread_join(thread, NULL);
    if (!strcmp(way, "signals") && !sigaction(SIGUSR1, &action, NULL))
        kill(getpid(), SIGUSR1);
    if (!strcmp(way, "contexts"))
        switch_context();
}

/* Executes our own file from a memfd; does not return. */
static void go_to_memory(char **argv)
{
    const int from = open("/proc/self/exe", O_RDONLY);
    const int fd = (int)syscall(SYS_memfd_create, "program", MFD_CLOEXEC);
    static char moved[] = "-M";
    struct stat about;

    if (from < 0 || fd < 0 || fstat(from, &about) ||
        sendfile(fd, from, NULL, (size_t)about.st_size) != about.st_size)
        exit(3);
    argv[1] = moved;
    fexecve(fd, argv, environ);
    exit(4);
}

int main(int argc, char **argv)
{
    const int moved = argc > 1 && !strcmp(argv[1], "-M");
    const int deleted = argc > 1 && !strcmp(argv[1], "-d");
    const int begun = deleted + moved;

    asked.waits = argc > 1 + begun && !strcmp(argv[1 + begun], "-w");
    if (argc > 1 && !strcmp(argv[1], "-m"))
        go_to_memory(argv);
    if (moved) {
        const char *slash = strrchr(argv[0], '/');
        prctl(PR_SET_NAME, slash ? slash + 1 : argv[0]);
        astray = NULL;
    }
    if (deleted && unlink(argv[0]))
        return 2;
    argc -= begun + asked.waits;
    argv += begun + asked.waits;
    if (argc != 3)
        return 2;
    const uint64_t number = number_of(argv[2]);
    begin(NULL);
    wait_if_asked();
    if (!strcmp(argv[1], "forks"))
        fork_each(number);
    else if (!strcmp(argv[1], "wide"))
        wide(number);
    else if (!strcmp(argv[1], "threads") || !strcmp(argv[1], "signals") || !strcmp(argv[1], "contexts"))
        call_elsewhere(argv[1], number);
    else
        outer(argv[1], number);
    say_done(number);
    return 0;
}
