/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Stacks that do not begin in main: threads, coroutines, processes. */
#include "shape.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <ucontext.h>
#endif

APART static void inner(int depth)
{
    TELL();
    if (depth)
        inner(depth - 1);
    else
        MARK();
    UNTELL();
}

/* ---- threads: one at a time marks its stack, the other waits for it */

APART static void *start(void *argument)
{
    uint64_t before = tell_anew();

    tell(ANY, NULL);
    TELL();
    MARK();
    inner(3);
    tell_again(before);
    return argument;
}
static void run_thread(const pthread_attr_t *attributes)
{
    pthread_t thread;

    if (pthread_create(&thread, attributes, start, NULL) || pthread_join(thread, NULL))
        abort();
}
APART static void thread(void)
{
    TELL();
    run_thread(NULL);
    MARK();
    run_thread(NULL);
    UNTELL();
}
APART static void thread_small(void)
{
    pthread_attr_t attributes;

    TELL();
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    run_thread(&attributes);
    UNTELL();
}

APART static void *start_starts(void *argument)
{
    uint64_t before = tell_anew();

    tell(ANY, NULL);
    TELL();
    run_thread(NULL);
    inner(2);
    tell_again(before);
    return argument;
}
APART static void thread_threads(void)
{
    pthread_t made;

    TELL();
    if (pthread_create(&made, NULL, start_starts, NULL) || pthread_join(made, NULL))
        abort();
    MARK();
    UNTELL();
}

static pthread_key_t key;
APART static void key_ends(void *value)
{
    uint64_t before = tell_anew();

    (void)value;
    tell(ANY, NULL);
    TELL();
    MARK();
    tell_again(before);
}
APART static void *start_with_key(void *argument)
{
    pthread_setspecific(key, &key);
    return argument;
}
APART static void thread_key(void)
{
    pthread_t made;

    TELL();
    if (pthread_key_create(&key, key_ends) || pthread_create(&made, NULL, start_with_key, NULL) ||
        pthread_join(made, NULL))
        abort();
    UNTELL();
}

/* ---- a thread without libc's help, and processes */

APART static int cloned(void *argument)
{
    uint64_t before = tell_anew();

    (void)argument;
    tell(ANY, NULL);
    TELL();
    MARK();
    inner(1);
    tell_again(before);
    return 0;
}
APART static void with_clone(void)
{
    static char stack[65536] __attribute__((aligned(16)));

    TELL();
    int child = clone(cloned, stack + sizeof(stack), SIGCHLD, NULL);
    if (child < 0 || waitpid(child, NULL, 0) != child)
        abort();
    MARK();
    UNTELL();
}

APART static void forked(void)
{
    TELL();
    int child = fork();
    MARK();
    inner(2);
    UNTELL();
    if (!child)
        _exit(0);
    waitpid(child, NULL, 0);
}
APART static void vforked(void)
{
    TELL();
    int child = vfork();
    if (!child) {
        MARK();
        inner(2);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    MARK();
    UNTELL();
}

/* ---- stacks that a program changes itself */

#ifdef __GLIBC__
static ucontext_t here, there;

APART static void coroutine(int depth)
{
    uint64_t before = tell_anew();

    tell(ANY, NULL);
    TELL();
    MARK();
    inner(depth);
    tell_again(before);
    swapcontext(&there, &here);
    before = tell_anew();
    tell(ANY, NULL);
    TELL();
    MARK();
    inner(depth + 1);
    tell_again(before);
}
APART static void context(void)
{
    char *stack = malloc(65536);

    TELL();
    if (!stack || getcontext(&there))
        abort();
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = 65536;
    there.uc_link = &here;
    makecontext(&there, (void (*)(void))coroutine, 1, 4);
    swapcontext(&here, &there);
    MARK();
    inner(1);
    swapcontext(&here, &there);
    MARK();
    free(stack);
    UNTELL();
}
/* Without switching to another, and with arguments on its stack */
APART static void coroutine_last(int a, int b, int c, int d, int e, int f, int g, int h)
{
    uint64_t before = tell_anew();

    tell(ANY, NULL);
    TELL();
    MARK();
    inner(a + b + c + d + e + f + g + h);
    tell_again(before);
    setcontext(&here);
}
APART static void context_last(void)
{
    char *stack = malloc(65536);
    volatile int back = 0;

    TELL();
    if (!stack || getcontext(&there))
        abort();
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = 65536;
    there.uc_link = NULL;
    makecontext(&there, (void (*)(void))coroutine_last, 8, 0, 1, 0, 1, 0, 1, 0, 1);
    getcontext(&here);
    if (!back++)
        setcontext(&there);
    MARK();
    free(stack);
    UNTELL();
}
#endif

const struct shape_row thread_shapes[] = {
    {"thread", thread},
    {"thread_small", thread_small},
    {"thread_threads", thread_threads},
    {"thread_key", thread_key},
    {"with_clone", with_clone},
    {"forked", forked},
    {"vforked", vforked},
#ifdef __GLIBC__
    {"context", context},
    {"context_last", context_last},
#endif
    {NULL, NULL},
};
