/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * For writing unit tests. TEST(name) { ... } defines a test; TEST_MAIN, at the end of the file, runs
 * all of them in the order of the file, and prints `PASS name` or `FAIL name` for each. A main() of
 * the file's own calls run_tests() and ends with `return tests_done();`. If it has to choose which
 * tests to run, tests are plain functions, and it runs each by RUN(name).
 */
#ifndef STACKBOX_TEST_H
#define STACKBOX_TEST_H

/* What nearly every test needs. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/util.h"

static int test_failures, test_failures_here;

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            printf("  %s:%d: not so: %s\n", __FILE__, __LINE__, #condition);              \
            test_failures_here++;                                                         \
        }                                                                                 \
    } while (0)

/* Reports a failure that is not a condition. */
#define WRONG(what)                                                                       \
    do {                                                                                  \
        printf("  %s:%d: wrong: %s\n", __FILE__, __LINE__, what);                         \
        test_failures_here++;                                                             \
    } while (0)

#define CHECK_NUMBER(actual, expected)                                                    \
    do {                                                                                  \
        long long actual_ = (long long)(actual), expected_ = (long long)(expected);       \
        if (actual_ != expected_) {                                                       \
            printf("  %s:%d: %s is %lld, should be %lld\n", __FILE__, __LINE__, #actual,  \
                   actual_, expected_);                                                   \
            test_failures_here++;                                                         \
        }                                                                                 \
    } while (0)

#define CHECK_STRING(actual, expected)                                                    \
    do {                                                                                  \
        const char *actual_ = (actual), *expected_ = (expected);                          \
        if (!actual_ || strcmp(actual_, expected_)) {                                     \
            printf("  %s:%d: %s is \"%s\", should be \"%s\"\n", __FILE__, __LINE__,       \
                   #actual, actual_ ? actual_ : "(null)", expected_);                     \
            test_failures_here++;                                                         \
        }                                                                                 \
    } while (0)

static inline void run_test(const char *name, void (*test)(void))
{
    test_failures_here = 0;
    test();
    printf("%s %s\n", test_failures_here ? "FAIL" : "PASS", name);
    fflush(stdout);
    test_failures += test_failures_here;
}

#define RUN(name) run_test(#name, name)

struct test {
    const char *name;
    void (*function)(void);
    int line;
    struct test *next;
};

static struct test *first_test;

/* Compilers order constructors as they like. */
static inline void add_test(struct test *test)
{
    struct test **place = &first_test;

    while (*place && (*place)->line < test->line)
        place = &(*place)->next;
    test->next = *place;
    *place = test;
}

#define TEST(name)                                                                        \
    static void name(void);                                                               \
    __attribute__((constructor)) static void add_##name(void)                             \
    {                                                                                     \
        static struct test test = {#name, name, __LINE__, NULL};                          \
        add_test(&test);                                                                  \
    }                                                                                     \
    static void name(void)

static inline void run_tests(void)
{
    CHECK(first_test);
    for (const struct test *test = first_test; test; test = test->next)
        run_test(test->name, test->function);
}

/* Variables that are freed, or closed, where their scope ends: by this function of their address. */
#define AUTO(function) __attribute__((cleanup(function)))
#define AUTO_TEXT AUTO(text_free) struct text
#define AUTO_FD AUTO(close_own) const int

static inline void close_own(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* Rounds of a test with random numbers: one in $FEWER_ROUNDS where they are slow, as in an emulator. */
static inline int rounds(int usual)
{
    const char *fewer = getenv("FEWER_ROUNDS");
    const int part = fewer ? atoi(fewer) : 1;

    return part > 1 ? (usual + part - 1) / part : usual;
}

/* Checks of main() itself, outside of tests, count as well. */
static inline int tests_done(void)
{
    return test_failures || test_failures_here;
}

#define TEST_MAIN                                                                         \
    int main(void)                                                                        \
    {                                                                                     \
        run_tests();                                                                      \
        return tests_done();                                                              \
    }

#endif
