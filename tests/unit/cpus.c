/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Lists of CPUs as in /sys, and what is not one. */
#include "kernel/limits.h"

#include "test.h"

/* The ranges that are read from a list: "first-last " for each. */
static const char *ranges(const char *list)
{
    static char read[256];
    size_t length = 0;
    unsigned first, last;

    read[0] = '\0';
    while (cpus_next(&list, &first, &last))
        length += (size_t)snprintf(read + length, sizeof(read) - length, "%u-%u ", first, last);
    return read;
}

TEST(lists)
{
    CHECK_STRING(ranges("0\n"), "0-0 ");
    CHECK_STRING(ranges("0-1\n"), "0-1 ");
    CHECK_STRING(ranges("0-3,6,8-8191\n"), "0-3 6-6 8-8191 ");
    CHECK_STRING(ranges("0-3"), "0-3 ");
    CHECK_STRING(ranges("1,2,3,\n"), "1-1 2-2 3-3 ");
}

TEST(no_lists)
{
    CHECK_STRING(ranges(""), "");
    CHECK_STRING(ranges("\n"), "");
    CHECK_STRING(ranges("-1\n"), "");
    CHECK_STRING(ranges("(null)"), "");
    CHECK_STRING(ranges("0,3-\n"), "0-0 ");
    CHECK_STRING(ranges("0,3-1\n"), "0-0 ");
    CHECK_STRING(ranges("8192"), "");
    CHECK_STRING(ranges("99999999999999999999"), "");
    CHECK_STRING(ranges("0-4294967296"), "");
}

/* What each call returns, and which calls were made. */
struct answers {
    int first, others;
    unsigned calls;
};

static int answer(void *context, unsigned cpu)
{
    struct answers *answers = context;

    (void)cpu;
    return answers->calls++ ? answers->others : answers->first;
}

TEST(those_of_this_machine)
{
    struct answers all = {0, 0, 0}, none = {-ENODEV, -ENODEV, 0}, wrong = {-EINVAL, 0, 0},
                   last = {0, -EINVAL, 0}, refused = {-EACCES, 0, 0};

    CHECK_NUMBER(cpus_each_online(answer, &all), 0);
    CHECK(all.calls >= 1);
    CHECK_NUMBER(cpus_each_online(answer, &none), 0);
    CHECK_NUMBER(none.calls, all.calls);
    CHECK_NUMBER(cpus_each_online(answer, &wrong), -EINVAL);
    CHECK_NUMBER(wrong.calls, 1);
    /* /sys says which CPUs there are: a failing call does not mean that there are no more. */
    CHECK_NUMBER(cpus_each_online(answer, &last), all.calls > 1 ? -EINVAL : 0);
    CHECK(last.calls <= 2);
    CHECK_NUMBER(cpus_each_online(answer, &refused), -EACCES);
    CHECK_NUMBER(refused.calls, 1);
}

TEST_MAIN
