/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * How traced programs block, wake others, and measure how long they were blocked. All system calls
 * are inlined, so the calling function is the leaf of its user stack.
 */
#ifndef STACKBOX_WORKLOADS_WAITS_H
#define STACKBOX_WORKLOADS_WAITS_H

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/resource.h>

#include "arch.h"
#include "word.h"

/* The calls that take libc's struct timespec, which has 64-bit time on 32-bit machines, too. */
#ifdef SYS_clock_nanosleep_time64
#define CALL_NANOSLEEP SYS_clock_nanosleep_time64
#else
#define CALL_NANOSLEEP SYS_clock_nanosleep
#endif
#ifdef SYS_futex_time64
#define CALL_FUTEX SYS_futex_time64
#else
#define CALL_FUTEX SYS_futex
#endif
#ifdef SYS_rt_sigtimedwait_time64
#define CALL_SIGTIMEDWAIT SYS_rt_sigtimedwait_time64
#else
#define CALL_SIGTIMEDWAIT SYS_rt_sigtimedwait
#endif

#define INLINE static inline __attribute__((always_inline))

INLINE struct timespec time_of_us(uint64_t us)
{
    return (struct timespec){.tv_sec = (time_t)(us / 1000000),
                             .tv_nsec = (long)(us % 1000000 * 1000)};
}

INLINE long nap(uint64_t us)
{
    struct timespec time = time_of_us(us);

    return call_kernel_all(CALL_NANOSLEEP, CLOCK_MONOTONIC, 0, (long)&time, 0, 0, 0);
}

/* Waits while *word is value. The futex is shared: processes use it, too. time may be NULL. */
INLINE long futex_wait(uint32_t *word, uint32_t value, const struct timespec *time)
{
    return call_kernel_all(CALL_FUTEX, (long)word, FUTEX_WAIT, (long)value, (long)time, 0, 0);
}

INLINE long futex_wake(uint32_t *word, int waiters)
{
    return call_kernel_all(CALL_FUTEX, (long)word, FUTEX_WAKE, waiters, 0, 0, 0);
}

INLINE long read_byte(int file)
{
    char byte;

    return call_kernel_all(SYS_read, file, (long)&byte, 1, 0, 0, 0);
}

INLINE long write_byte(int file)
{
    char byte = '.';

    return call_kernel_all(SYS_write, file, (long)&byte, 1, 0, 0, 0);
}

/* The signal must be blocked. Signals from SIGRTMIN on are queued: none is merged with another. */
INLINE long signal_wait(int number)
{
    uint64_t set = UINT64_C(1) << (number - 1);

    return call_kernel_all(CALL_SIGTIMEDWAIT, (long)&set, 0, 0, sizeof(set), 0, 0);
}

INLINE long signal_send(pid_t pid, pid_t tid, int number)
{
    return call_kernel_all(SYS_tgkill, pid, tid, number, 0, 0, 0);
}

/*
 * The off-CPU time of the thread between two readings: monotonic time minus the thread's CPU time.
 * So the kernel's work for the call itself does not count as waiting. As in a trace, the time on
 * the run queue after the wakeup is included. Time that passed between the readings of the two
 * clocks, as on a stalled virtual machine, is recorded separately: the true time is up to that much
 * less.
 *
 * If the kernel wakes a thread on a CPU where another is just ending (or while it handles
 * interrupts), it does not update the run-queue clock at the switch: it charges the thread with the
 * time since the wakeup, in which it did not run. The charge beyond its cheapest call is recorded
 * separately, too: the true time is up to that much more.
 *
 * While the host runs something else on the virtual CPU, a thread neither waits nor, by its CPU
 * clock, runs. The kernel counts this steal time per CPU only, see stolen_ns.
 *
 * A runnable thread can be preempted, which is not waiting. After a preemption, all of its
 * run-queue time since the last one is recorded separately.
 */
struct stopwatch {
    uint64_t before, cpu, after;
    long preemptions;
};

/* How many involuntary switches this thread has had. */
INLINE long preemptions(void)
{
    struct rusage usage = {0};

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

INLINE struct stopwatch stopwatch_read(void)
{
    struct stopwatch watch = {.preemptions = preemptions()};

    watch.before = clock_ns(CLOCK_MONOTONIC);
    watch.cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    watch.after = clock_ns(CLOCK_MONOTONIC);
    return watch;
}

/*
 * Opens this thread's run-queue time. Call it before tracing: threads that look up the same
 * directory in /proc wait for each other.
 */
INLINE int delays_open(void)
{
    return open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

/*
 * The run-queue time in ns, the file's second number. Not by stdio: its functions have locks, and
 * no frame pointers, so a thread preempted in one of them would have no whole stack.
 */
INLINE uint64_t delay_ns(int delays)
{
    uint64_t delayed = 0;
    char text[64] = "", *at = text;

    if (pread(delays, text, sizeof(text) - 1, 0) > 0) {
        while (*at && *at != ' ')
            at++;
        while (*at && *++at >= '0' && *at <= '9')
            delayed = delayed * 10 + (uint64_t)(*at - '0');
    }
    return delayed;
}

/*
 * The steal time of all CPUs so far, in ns: up to as much of any thread's off-CPU time was no wait.
 * Call it in a process's first thread only: the reading is traced, too.
 */
static inline uint64_t stolen_ns(void)
{
    unsigned long long stolen = 0;
    FILE *file = fopen("/proc/stat", "re");

    if (file && fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &stolen) != 1)
        stolen = 0;
    if (file)
        fclose(file);
    return stolen * 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

/* The sum of one thread's waits in one function. */
struct waits {
    uint64_t count, ns, longest;
    int delays;                  /* see delays_open */
    uint64_t doubt_ns, delay_ns; /* delay_ns: delay_ns() at its last reading */
    uint64_t cpu_ns, least_cpu_ns;
    uint64_t long_count, long_ns; /* those longer than the bound */
    uint64_t to_wake_ns;          /* from the call to just before the waker's call */
};

/* Makes the first readings before tracing: they cost more, in libc and for page faults. */
INLINE void waits_prepare(struct waits *waits)
{
    waits->delays = delays_open();
    waits->delay_ns = delay_ns(waits->delays);
    stopwatch_read();
}

/* Adds the wait from `start` until now. Returns the thread's CPU time meanwhile, in ns. */
INLINE uint64_t waits_add(struct waits *waits, const struct stopwatch *start, uint64_t bound_us)
{
    struct stopwatch end = stopwatch_read();
    uint64_t wall = end.after - start->before, cpu = end.cpu - start->cpu;
    uint64_t ns = wall > cpu ? wall - cpu : 0;
    uint64_t doubt = end.after - end.before + start->after - start->before;

    if (preemptions() != start->preemptions) {
        uint64_t delay = delay_ns(waits->delays);
        doubt += delay - waits->delay_ns;
        waits->delay_ns = delay;
    }
    waits->count++;
    waits->ns += ns;
    waits->doubt_ns += doubt < ns ? doubt : ns;
    waits->cpu_ns += cpu;
    if (waits->count == 1 || cpu < waits->least_cpu_ns)
        waits->least_cpu_ns = cpu;
    if (ns > waits->longest)
        waits->longest = ns;
    if (ns > bound_us * 1000) {
        waits->long_count++;
        waits->long_ns += ns;
    }
    return cpu;
}

/* By how many ns the true sum of all waits may be larger. */
static inline uint64_t waits_more_ns(const struct waits *waits)
{
    return waits->cpu_ns - waits->count * waits->least_cpu_ns;
}

#endif
