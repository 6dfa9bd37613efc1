/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * format_print() prints what the C library prints, if that has another one; and what it must print
 * anyway.
 */
#include "base/format.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test.h"

static char printed[1024];

/* Leaves what it prints in `printed`. Returns its result, or -2 if that is not what was written. */
static __attribute__((format(printf, 1, 2))) int print(const char *format, ...)
{
    va_list list;
    FILE *out = fmemopen(printed, sizeof(printed), "w");

    if (!out)
        return -2;
    va_start(list, format);
    const int result = format_print(out, format, list);
    va_end(list);
    const long length = ftell(out);
    return fclose(out) || length != result ? -2 : result;
}

#define PRINTS(right, ...) do {                                      \
    CHECK_NUMBER(print(__VA_ARGS__), (int)strlen(right));            \
    CHECK_STRING(printed, right);                                    \
} while (0)

static void texts_and_characters(void)
{
    PRINTS("", "%s", "");
    PRINTS("a b", "a %s", "b");
    PRINTS("  ab|ab  |", "%4s|%-4s|", "ab", "ab");
    PRINTS("abc", "%.3s", "abcdef");
    PRINTS("ab", "%.*s", 2, "abcdef");
    PRINTS("   ab|ab   |", "%*s|%-*s|", 5, "ab", 5, "ab");
    PRINTS("ab   |", "%*s|", -5, "ab");
    PRINTS("abcdef", "%.*s", -1, "abcdef");
    PRINTS("x%y", "%c%%%c", 'x', 'y');
    PRINTS("100%", "%d%%", 100);
}

static void numbers(void)
{
    PRINTS("0 -1 2147483647 -2147483648", "%d %d %d %d", 0, -1, INT_MAX, INT_MIN);
    PRINTS("4294967295", "%u", UINT_MAX);
    PRINTS("9223372036854775807 -9223372036854775808", "%lld %lld", LLONG_MAX, LLONG_MIN);
    PRINTS("18446744073709551615 ffffffffffffffff", "%llu %llx", ULLONG_MAX, ULLONG_MAX);
    PRINTS("12 -3 7", "%lu %ld %zu", 12ul, -3l, (size_t)7);
    PRINTS("007|  7|7  |+7|-07", "%03d|%3d|%-3d|%+d|%03d", 7, 7, 7, 7, -7);
    PRINTS("000000ff|ff      |", "%08x|%-8x|", 0xff, 0xff);
    PRINTS("00042", "%0*llu", 5, 42ull);
    PRINTS("0x10", "%p", (void *)(uintptr_t)16);
}

static void fractions(void)
{
    PRINTS("0.0 0.5 1.0 -1.5", "%.1f %.1f %.1f %.1f", 0.0, 0.5, 0.96, -1.5);
    /* Halves are rounded to even; what only looks like a half is not. */
    PRINTS("0 2 2 4 0.12 0.38", "%.0f %.0f %.0f %.0f %.2f %.2f", 0.5, 1.5, 2.5, 3.5, 0.125, 0.375);
    PRINTS("1.00 1.01 0.14", "%.2f %.2f %.2f", 1.005, 1.0051, 0.145);
    PRINTS("10.00 100 9.99", "%.2f %.0f %.2f", 9.999, 99.5, 9.994);
    PRINTS("0.000001 3.141593", "%f %f", 0.000001, 3.14159265358979);
    PRINTS("   1.25|+1.5|-0.00|00.50", "%7.2f|%+.1f|%.2f|%05.2f", 1.25, 1.5, -0.001, 0.5);
    PRINTS("9007199254740992.0 1000000000000000000 10000000000000000000000", "%.1f %.0f %.0f", 9007199254740992.0, 1e18, 1e22);
}

static void shortest(void)
{
    PRINTS("0 1 0.5 100000 1e+06 0.0001 1e-05", "%g %g %g %g %g %g %g", 0.0, 1.0, 0.5, 1e5, 1e6, 1e-4, 1e-5);
    PRINTS("1.2 9.9 10 0.012 1.2e+02", "%.2g %.2g %.2g %.2g %.2g", 1.24, 9.94, 9.96, 0.0123, 123.0);
    PRINTS("12.3 99.9 100 48.9", "%.3g %.3g %.3g %.3g", 12.34, 99.94, 99.96, 48.88);
    PRINTS("0.25 30 1234567.891", "%.10g %.10g %.10g", 0.25, 30.0, 1234567.891);
    PRINTS("inf -inf nan", "%f %g %f", (double)INFINITY, -(double)INFINITY, (double)NAN);
}

static int writes_nothing(void)
{
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        return -2;
    setvbuf(full, NULL, _IONBF, 0);
    const int result = fprintf(full, "%d", 5);
    fclose(full);
    return result;
}

static void errors_are_told(void)
{
    CHECK(writes_nothing() < 0);
}

/* glibc's own is a different one, and exact. */
static void as_the_library(void)
{
#ifdef __GLIBC__
    static const char *const formats[] = {"%.0f", "%.1f", "%.2f", "%.3f", "%.6f", "%7.2f", "%+.2f", "%.4f",
                                          "%g", "%.2g", "%.3g", "%.10g"};
    uint64_t state = 88172645463325252u;
    char right[1024];
    size_t wrong = 0;

    for (int round = 0; round < 200000; round++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        const char *format = formats[state % (sizeof(formats) / sizeof(*formats))];
        /*
         * Half of them with few digits, which are close to halves, half with random bits; none for
         * which %g uses an exponent, which is not exact.
         */
        double value = state & 1024 ? (double)(state >> 40) / 1000 : (double)(state >> 11) / (double)(1u << (state >> 59));
        if (strchr(format, 'g'))
            value = (double)(state >> 44) / 10600;
        value = state & 2048 ? value : -value;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(right, sizeof(right), format, value);
        (void)print(format, value);
#pragma GCC diagnostic pop
        if (strcmp(right, printed) && !wrong++)
            printf("  %s: %s, should be %s\n", format, printed, right);
    }
    CHECK_NUMBER(wrong, 0);
#endif
}

int main(void)
{
    TEST(texts_and_characters);
    TEST(numbers);
    TEST(fractions);
    TEST(shortest);
    TEST(errors_are_told);
    TEST(as_the_library);
    return tests_done();
}
