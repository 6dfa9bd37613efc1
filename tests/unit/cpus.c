/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Lists of CPUs, as /sys has them, and what is none. */
#include "kernel/cpus.h"

#include "test.h"

/* What a list is read as: "first-last " for each range. */
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

static void lists(void)
{
    CHECK_STRING(ranges("0\n"), "0-0 ");
    CHECK_STRING(ranges("0-1\n"), "0-1 ");
    CHECK_STRING(ranges("0-3,6,8-8191\n"), "0-3 6-6 8-8191 ");
    CHECK_STRING(ranges("0-3"), "0-3 ");
    CHECK_STRING(ranges("1,2,3,\n"), "1-1 2-2 3-3 ");
}

static void no_lists(void)
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

static void those_of_this_machine(void)
{
    struct text list = {0};
    unsigned first = 1, last = 0;

    CHECK_NUMBER(cpus_read_online(&list), 0);
    const char *at = list.data;
    CHECK(cpus_next(&at, &first, &last));
    CHECK(first <= last);
    text_free(&list);
}

int main(void)
{
    TEST(lists);
    TEST(no_lists);
    TEST(those_of_this_machine);
    return tests_done();
}
