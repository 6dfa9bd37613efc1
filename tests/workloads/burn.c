/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * burn [-s MS] [-F HZ] [-2] [-N COMM] [-w] [-k]
 *
 * Burns MS milliseconds of its own CPU time: seven tenths of it in greater(), the rest in lesser(), a
 * few milliseconds at a time. With -2 a second thread burns as much in other(),
 * on another CPU. All times are by the clock that the kernel keeps for each thread, and are
 * printed: `count greater NS` and so on. With them comes how many samples of a clock of HZ that is:
 * `count greater_least N`, `count greater_most N`. The most is NS * HZ; but if the machine itself does
 * not run for a while, as a virtual one does now and then, the ticks of that time come as one. A period
 * in which that may have happened counts as one tick in the least. `count wall_most N` is all the time in
 * which these threads burnt or waited for a CPU: a thread's own clock leaves out the time when the CPU
 * belonged to another machine, and sampling clocks do not.
 *
 *   -s MS       1000
 *   -F HZ       997
 *   -N COMM, -w, -k   as in other workloads
 *
 * `count tid N` and `count other_tid N` tell the threads apart; they are printed before `ready`.
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "arch.h"
#include "word.h"

struct burner {
    pthread_t thread;
    unsigned cpu;
    uint64_t last, state;
    uint64_t burnt[2];    /* ns */
    double least[2];      /* samples */
};

static uint64_t wanted = 1000000000, period = 1000000000 / 997;
static pthread_barrier_t start;
static int other_tid;

void spin(struct burner *self, unsigned part, uint64_t time);
void greater(struct burner *self, uint64_t time);
void lesser(struct burner *self, uint64_t time);
void other(struct burner *self, uint64_t time);
void *burn_other(void *argument);

/*
 * Inlined into spin(): libc's function and the vDSO may lack frame pointers, which hides their
 * caller.
 */
static inline __attribute__((always_inline)) uint64_t thread_ns(void)
{
    struct timespec now;

    call_kernel_all(CALL_CLOCK_GETTIME, CLOCK_THREAD_CPUTIME_ID, (long)&now, 0, 0, 0, 0);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t random_below(struct burner *self, uint64_t limit)
{
    self->state = self->state * 6364136223846793005u + 1442695040888963407u;
    return (self->state >> 33) % limit;
}

/* An uninterrupted step takes about 20 us: one that is longer than a period was interrupted. */
APART void spin(struct burner *self, unsigned part, uint64_t time)
{
    uint64_t end = self->last + time;

    FRAME;
    while (self->last < end) {
        for (unsigned i = 0; i < 20000; i++)
            __asm__ volatile("" ::: "memory");
        uint64_t now = thread_ns(), step = now - self->last;
        self->last = now;
        self->burnt[part] += step;
        self->least[part] += (double)(step < period ? step : period) / (double)period;
    }
}

APART void greater(struct burner *self, uint64_t time)
{
    FRAME;
    spin(self, 0, time);
    NO_TAIL_CALL;
}

APART void lesser(struct burner *self, uint64_t time)
{
    FRAME;
    spin(self, 1, time);
    __asm__ volatile("nop" ::: "memory"); /* not a copy of greater() */
}

APART void other(struct burner *self, uint64_t time)
{
    FRAME;
    spin(self, 0, time);
    __asm__ volatile("nop\n\tnop" ::: "memory");
}

/* The lengths vary, so that no sampling clock is in step with them. */
static uint64_t slice(struct burner *self)
{
    return 500000 + random_below(self, 4000000);
}

static void burn(struct burner *self)
{
    self->last = thread_ns();
    while (self->burnt[0] + self->burnt[1] < wanted) {
        if (self->burnt[0] * 3 <= self->burnt[1] * 7)
            greater(self, slice(self));
        else
            lesser(self, slice(self));
    }
}

APART void *burn_other(void *argument)
{
    struct burner *self = argument;

    pin_to_cpu(self->cpu);
    other_tid = (int)call_kernel(SYS_gettid, 0);
    pthread_barrier_wait(&start);
    pthread_barrier_wait(&start);
    self->last = thread_ns();
    while (self->burnt[0] < wanted)
        other(self, slice(self));
    return NULL;
}

static void say_part(const char *name, const struct burner *self, unsigned part)
{
    printf("count %s %llu\ncount %s_least %.0f\ncount %s_most %.0f\n", name,
           (unsigned long long)self->burnt[part], name, self->least[part], name,
           (double)self->burnt[part] / (double)period);
}

int main(int argc, char **argv)
{
    struct burner self = {.cpu = 0, .state = (uint64_t)getpid()};
    struct burner second = {.cpu = 1, .state = (uint64_t)getpid() + 1};
    int option, two = 0;

    while ((option = next_option(argc, argv, "s:F:2")) != -1) {
        switch (option) {
        case 's': wanted = (uint64_t)number_of(optarg) * 1000000; break;
        case 'F': period = 1000000000 / number_of(optarg); break;
        case '2': two = 1; break;
        default: return 2;
        }
    }
    begin(asked.comm);
    pthread_barrier_init(&start, NULL, 1 + (unsigned)two);
    if (two && pthread_create(&second.thread, NULL, burn_other, &second))
        return 2;
    pthread_barrier_wait(&start);
    pin_to_cpu(self.cpu); /* a thread that is created after this would have no other CPU */
    printf("count tid %d\ncount other_tid %d\n", (int)getpid(), other_tid);
    wait_if_asked();
    pthread_barrier_wait(&start);
    const uint64_t began = clock_ns(CLOCK_MONOTONIC);
    burn(&self);
    if (two)
        pthread_join(second.thread, NULL);
    const uint64_t wall = clock_ns(CLOCK_MONOTONIC) - began;
    say_part("greater", &self, 0);
    say_part("lesser", &self, 1);
    say_part("other", &second, 0);
    printf("count wall_most %.0f\n", (double)wall / (double)period);
    say_done(0);
    return 0;
}
