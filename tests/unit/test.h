/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * For writing unit tests. A test is a function; main() runs each by TEST(function), which prints
 * `PASS name` or `FAIL name`, and ends with `return tests_done();`.
 */
#ifndef STACKBOX_TEST_H
#define STACKBOX_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

#define TEST(function)                                                                    \
    do {                                                                                  \
        test_failures_here = 0;                                                           \
        function();                                                                       \
        printf("%s %s\n", test_failures_here ? "FAIL" : "PASS", #function);               \
        fflush(stdout);                                                                   \
        test_failures += test_failures_here;                                              \
    } while (0)

/*
 * Rounds of a test with random numbers: one in $FEWER_ROUNDS where they are slow, as in an
 * emulator.
 */
static inline int rounds(int usual)
{
    const char *fewer = getenv("FEWER_ROUNDS");
    const int part = fewer ? atoi(fewer) : 1;

    return part > 1 ? (usual + part - 1) / part : usual;
}

static inline int tests_done(void)
{
    return test_failures ? 1 : 0;
}

#endif
