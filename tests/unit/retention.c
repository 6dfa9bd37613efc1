/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Which report files stackbox deletes, and which it never deletes. */
#include <sys/stat.h>

#include "report/report_files.h"
#include "files.h"

#define TEMPLATE "spool/%t.txt"

static void make(const char *name, size_t bytes)
{
    FILE *file = fopen(name, "w");

    for (size_t i = 0; i < bytes; i++)
        fputc('x', file);
    fclose(file);
}

static bool exists(const char *name)
{
    struct stat about;

    return !lstat(name, &about);
}

static void fit(const char *path, const char *name, bool does, const char *when)
{
    char got[FILE_NAME_TIME + 1];

    CHECK_NUMBER(file_name_fits(path, name, got), does);
    if (does)
        CHECK_STRING(got, when);
}

TEST(whole_names_fit)
{
    fit("%t.txt", "20240229-235959.999.txt", true, "20240229-235959.999");
    fit("a%%%t", "a%20240229-235959.999", true, "20240229-235959.999");
    fit("%t-%t", "20240229-235959.999-20200101-000000.000", true, "20240229-235959.999");
    fit("%n.%t", "00001.20240229-235959.999", true, "20240229-235959.999");
    fit("%n.%t", "123456.20240229-235959.999", true, "20240229-235959.999");
    fit("%n.txt", "00001.txt", true, "");
    fit("%n.%t", "0001.20240229-235959.999", false, "");
    fit("%t.txt", "20240229-235959.999.txt~", false, "");
    fit("%t.txt", "x20240229-235959.999.txt", false, "");
    fit("%t.txt", ".20240229-235959.999.txt", false, "");
    fit("%t.txt", "20240229-235959.99.txt", false, "");
    fit("%t.txt", "20240229-235959,999.txt", false, "");
    fit("%t.txt", "2024022a-235959.999.txt", false, "");
    fit("%t.txt", "20240229", false, "");
    fit("%t.txt", "", false, "");
    fit("%t", "20240229-235959.999", true, "20240229-235959.999");
    fit("a%%", "a%", true, "");
    fit("a%%", "a", false, "");
}

static void prune(const struct retention *keep, struct retention_times *times, const char *name)
{
    CHECK_NUMBER(retention_prune(keep, TEMPLATE, name, times), 0);
}

TEST(the_oldest_go)
{
    struct retention_times times = {0};
    char name[64];

    for (unsigned i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "spool/20240101-00000%u.000.txt", i);
        make(name, 1);
    }
    prune(&(struct retention){.files = 3}, &times, name);
    for (unsigned i = 0; i < 10; i++) {
        snprintf(name, sizeof(name), "spool/20240101-00000%u.000.txt", i);
        CHECK_NUMBER(exists(name), i >= 7);
        remove(name);
    }
}

/* Files that are no reports of ours stay, even with similar names. */
TEST(others_stay)
{
    struct retention_times times = {0};

    make("spool/notes", 1);
    make("spool/20200101-000000.000.txt.old", 1);
    make("outside", 1);
    CHECK(!mkdir("spool/20200101-000000.001.txt", 0700));
    CHECK(!symlink("../outside", "spool/20200101-000000.002.txt"));
    CHECK(!mkfifo("spool/20200101-000000.003.txt", 0600));
    make("spool/20200101-000000.004.txt", 1);
    make("spool/20240101-000000.000.txt", 1);
    prune(&(struct retention){.files = 1}, &times, "spool/20240101-000000.000.txt");
    CHECK(exists("spool/notes") && exists("spool/20200101-000000.000.txt.old") && exists("outside"));
    CHECK(exists("spool/20200101-000000.001.txt") && exists("spool/20200101-000000.002.txt") &&
          exists("spool/20200101-000000.003.txt"));
    CHECK(!exists("spool/20200101-000000.004.txt") && exists("spool/20240101-000000.000.txt"));
    remove("spool/20240101-000000.000.txt");
    remove("spool/20200101-000000.001.txt");
    remove("spool/20200101-000000.002.txt");
    remove("spool/20200101-000000.003.txt");
    remove("spool/20200101-000000.000.txt.old");
    remove("spool/notes");
    remove("outside");
}

TEST(by_what_they_take_up)
{
    struct retention_times times = {0};
    struct stat about;

    make("spool/20240101-000000.000.txt", 100000);
    make("spool/20240101-000001.000.txt", 100000);
    make("spool/20240101-000002.000.txt", 100000);
    CHECK(!stat("spool/20240101-000000.000.txt", &about));
    const uint64_t each = (uint64_t)about.st_blocks * 512;
    prune(&(struct retention){.bytes = 3 * each}, &times, "spool/20240101-000002.000.txt");
    CHECK(exists("spool/20240101-000000.000.txt"));
    prune(&(struct retention){.bytes = 3 * each - 1}, &times, "spool/20240101-000002.000.txt");
    CHECK(!exists("spool/20240101-000000.000.txt") && exists("spool/20240101-000001.000.txt"));
    /* If a single report is too large, only the one just written is left. */
    prune(&(struct retention){.bytes = 1}, &times, "spool/20240101-000002.000.txt");
    CHECK(!exists("spool/20240101-000001.000.txt") && exists("spool/20240101-000002.000.txt"));
    remove("spool/20240101-000002.000.txt");
}

/* Writes a report, after which two are kept. */
static void write_report(struct retention_times *times, const char *path)
{
    make(path, 1);
    prune(&(struct retention){.files = 2}, times, path);
}

/* A board without a real-time clock starts in 1970, and what it wrote before looks newer. */
TEST(the_clock_was_behind)
{
    struct retention_times times = {0};

    make("spool/20260101-000000.000.txt", 1);
    make("spool/20260102-000000.000.txt", 1);
    write_report(&times, "spool/19700101-000100.000.txt");
    CHECK(!exists("spool/20260101-000000.000.txt") && exists("spool/19700101-000100.000.txt"));
    write_report(&times, "spool/19700101-000200.000.txt");
    CHECK(!exists("spool/20260102-000000.000.txt") && exists("spool/19700101-000100.000.txt"));
    /* Then its clock is set. */
    write_report(&times, "spool/20260103-000000.000.txt");
    CHECK(!exists("spool/19700101-000100.000.txt") && exists("spool/19700101-000200.000.txt"));
    remove("spool/19700101-000200.000.txt");
    remove("spool/20260103-000000.000.txt");
}

/* And a clock that was ahead is set back in the middle of a run. */
TEST(the_clock_is_set_back)
{
    struct retention_times times = {0};

    write_report(&times, "spool/20300101-000000.000.txt");
    write_report(&times, "spool/20300101-000100.000.txt");
    write_report(&times, "spool/20260101-000000.000.txt");
    CHECK(!exists("spool/20300101-000000.000.txt") && exists("spool/20260101-000000.000.txt"));
    write_report(&times, "spool/20260101-000100.000.txt");
    CHECK(!exists("spool/20300101-000100.000.txt") && exists("spool/20260101-000000.000.txt"));
    remove("spool/20260101-000000.000.txt");
    remove("spool/20260101-000100.000.txt");
}

TEST(only_where_others_may_not_write)
{
    struct retention_times times = {0};
    struct text error = {0};

    make("spool/20200101-000000.000.txt", 1);
    make("spool/20240101-000000.000.txt", 1);
    for (unsigned mode = 0; mode < 2; mode++) {
        CHECK(!chmod("spool", mode ? 0770 : 01707));
        CHECK_NUMBER(retention_check_place(TEMPLATE, &error), -EPERM);
        CHECK(strstr(error.data, "chmod go-w"));
        text_clear(&error);
        CHECK_NUMBER(retention_prune(&(struct retention){.files = 1}, TEMPLATE, "spool/20240101-000000.000.txt", &times),
                     -EPERM);
        CHECK(exists("spool/20200101-000000.000.txt"));
    }
    CHECK(!chmod("spool", 0755));
    CHECK_NUMBER(retention_check_place(TEMPLATE, &error), 0);
    CHECK_NUMBER(retention_check_place("none/%t.txt", &error), -ENOENT);
    text_free(&error);
    if (!geteuid()) {
        CHECK(!chown("spool", 1000, 1000));
        CHECK_NUMBER(retention_prune(&(struct retention){.files = 1}, TEMPLATE, "spool/20240101-000000.000.txt", &times),
                     -EPERM);
        CHECK(!chown("spool", 0, 0));
    }
    remove("spool/20200101-000000.000.txt");
    remove("spool/20240101-000000.000.txt");
}

TEST(names_that_tell_no_age)
{
    static const char *const names[] = {"a.txt", "%n.txt", "%%t.txt", "%t/a.txt", "%n/%t.txt"};
    AUTO_TEXT error = {0};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CHECK_NUMBER(retention_check_name(names[i], &error), -EINVAL);
        CHECK(strstr(error.data, names[i]));
        text_clear(&error);
    }
    CHECK_NUMBER(retention_check_name("%t.txt", &error), 0);
    CHECK_NUMBER(retention_check_name("a/b/%n-%t.txt", &error), 0);
}

int main(void)
{
    if (!enter_own_directory() || mkdir("spool", 0755))
        return 1;
    run_tests();
    CHECK(!rmdir("spool"));
    leave_own_directory();
    return tests_done();
}
