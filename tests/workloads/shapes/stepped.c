/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Stretches in which every instruction is a place to unwind from. */
#include "shape.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* Between them, like the marked programs, but single-stepped */
#define STEPPED_SHAPE(name, ...)   \
    APART static void name(void)   \
    {                              \
        TELL();                    \
        STEP();                    \
        __VA_ARGS__                \
        STEPPED();                 \
        UNTELL();                  \
    }

STEPPED_SHAPE(step_nothing, shape_zero = 0;)

/* The same frames that others mark, from their first instruction to their last */
static volatile int number = 7;

APART static int small(int a)
{
    return a * number;
}
APART static long many(long a, long b, long c, long d, long e, long f, long g, long h)
{
    long room[4] = {small((int)a), small((int)b), small((int)c), small((int)d)};

    shape_escape = room;
    return room[number & 3] + e + f + small((int)g) + h;
}
APART static int recursive(int depth)
{
    return depth ? recursive(depth - 1) * 3 + small(depth) : 1;
}
APART static int allocates(int size)
{
    char room[size];

    memset(room, size, (size_t)size);
    shape_escape = room;
    return small(room[size / 2]);
}
APART static int aligns(int size)
{
    char room[256] __attribute__((aligned(64)));
    char other[size];

    memset(room, size, sizeof(room));
    memset(other, size, (size_t)size);
    shape_escape = room;
    shape_escape = other;
    return small(room[number]) + other[0];
}
APART static int early(int a)
{
    if (a < 5)
        return a;
    return small(a) + small(a + 1);
}
APART static double floats(double a, float b)
{
    return a * (double)b + small((int)a);
}
struct large {
    long words[30];
};
APART static struct large moves(struct large in)
{
    in.words[number] = small(3);
    return in;
}
STEPPED_SHAPE(step_frames,
    struct large one = {{1}};
    shape_zero = (int)many(1, 2, 3, 4, 5, 6, 7, 8) & 0;
    shape_zero = (recursive(10) + allocates(100 * shape_one) + early(3) + early(6)) & 0;
    one = moves(one);
    shape_escape = &one;
    shape_zero = (int)floats(1.5, 2.5f) & 0;)
STEPPED_SHAPE(step_aligned, shape_zero = aligns(100 * shape_one) & 0;)

static jmp_buf back;
APART static void jumps_back(int a)
{
    if (small(a))
        longjmp(back, 1);
}
STEPPED_SHAPE(step_jump,
    if (!setjmp(back))
        jumps_back(shape_one);)

STEPPED_SHAPE(step_clock,
    struct timespec now;
    struct timeval day;
    for (int i = 0; i < 2; i++) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        clock_gettime(CLOCK_REALTIME, &now);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        gettimeofday(&day, NULL);
        shape_zero = (int)time(NULL) & 0;
    })

APART static void handler(int signal_number)
{
    shape_zero = small(signal_number) & 0;
}
/* Prepared before */
APART static void step_signal(void)
{
    TELL();
    signal(SIGUSR1, handler);
    STEP();
    raise(SIGUSR1);
    STEPPED();
    UNTELL();
}

/* musl's functions have no tables. */
#ifdef __GLIBC__
/* The first call of each goes through the dynamic linker, the second does not. */
STEPPED_SHAPE(step_plt,
    for (int i = 0; i < 2; i++) {
        shape_zero = (int)strtol("123", NULL, 10) & 0;
        shape_zero = (int)getppid() & 0;
        shape_zero = abs(shape_zero) & 0;
    })

STEPPED_SHAPE(step_memory,
    void *blocks[20];
    for (size_t i = 0; i < 20; i++) {
        blocks[i] = malloc(i * 100 + 1);
        memset(blocks[i], 0, i * 100 + 1);
    }
    for (size_t i = 0; i < 20; i += 2)
        free(blocks[i]);
    for (size_t i = 1; i < 20; i += 2)
        free(blocks[i] = realloc(blocks[i], i * 20));)

STEPPED_SHAPE(step_strings,
    char text[200];
    memset(text, 'a', sizeof(text));
    text[199] = '\0';
    shape_zero = (int)(strlen(text + shape_one) + (size_t)(strchr(text, 'b') != NULL)) & 0;
    shape_zero = (strcmp(text, text + 1) + memcmp(text, text + 50, 100)) & 0;
    memmove(text + 1, text, 100);)

STEPPED_SHAPE(step_print,
    char text[200];
    snprintf(text, sizeof(text), "%d %s %5.2f %lx %c", 12, "words", 2.75, 77ul, 'x');
    int a;
    double b;
    sscanf("12 3.5", "%d %lf", &a, &b);
    FILE *file = fopen("/dev/null", "w");
    if (file) {
        fprintf(file, "%d\n", a);
        fclose(file);
    })

APART static int compare(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}
STEPPED_SHAPE(step_sort,
    int numbers[30];
    for (int i = 0; i < 30; i++)
        numbers[i] = i * 7 % 30;
    qsort(numbers, 30, sizeof(int), compare);)

APART static void *thread(void *argument)
{
    uint64_t before = tell_anew();

    tell(ANY, NULL);
    TELL();
    STEP();
    shape_zero = recursive(4) & 0;
    free(malloc(100));
    STEPPED();
    tell_again(before);
    return argument;
}
APART static void step_thread(void)
{
    pthread_t made;

    TELL();
    if (!pthread_create(&made, NULL, thread, NULL))
        pthread_join(made, NULL);
    UNTELL();
}
#endif

const struct shape_row stepped_shapes[] = {
    {"step_nothing", step_nothing},
    {"step_frames", step_frames},
    {"step_aligned", step_aligned},
    {"step_jump", step_jump},
    {"step_signal", step_signal},
    {"step_clock", step_clock},
#ifdef __GLIBC__
    {"step_plt", step_plt},
    {"step_memory", step_memory},
    {"step_strings", step_strings},
    {"step_print", step_print},
    {"step_sort", step_sort},
    {"step_thread", step_thread},
#endif
    {NULL, NULL},
};
