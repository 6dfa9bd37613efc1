/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Lines of maps files: as kernels write them, and malformed ones. */
#include "processes/proc_maps.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "files.h"

struct seen {
    struct maps_entry last;
    char path[256];
    unsigned count;
    int answer;
};

static int take(void *context, const struct maps_entry *entry)
{
    struct seen *seen = context;

    seen->last = *entry;
    snprintf(seen->path, sizeof(seen->path), "%s", entry->path);
    seen->count++;
    return seen->answer;
}

static int read_text(const char *maps, size_t length, struct seen *seen)
{
    AUTO_FD fd = file_of(maps, length);

    return maps_each(fd, take, seen);
}

static void check_line(const char *line, struct maps_entry expected)
{
    struct seen seen = {.count = 0};
    int before = test_failures_here;

    CHECK_NUMBER(read_text(line, strlen(line), &seen), 0);
    CHECK_NUMBER(seen.count, 1);
    CHECK_NUMBER(seen.last.start, expected.start);
    CHECK_NUMBER(seen.last.end, expected.end);
    CHECK_NUMBER(seen.last.offset, expected.offset);
    CHECK_NUMBER(seen.last.device, expected.device);
    CHECK_NUMBER(seen.last.inode, expected.inode);
    CHECK_NUMBER(seen.last.executable, expected.executable);
    CHECK_STRING(seen.path, expected.path);
    if (test_failures_here > before)
        printf("  in %s\n", line);
}

TEST(lines_of_maps)
{
    const struct maps_entry none = {.start = 0x1000, .end = 0x2000, .path = ""};
    struct maps_entry file = {.start = 0x1000, .end = 0x2000, .offset = 0x3000, .executable = true,
                              .device = makedev(8, 1), .inode = 12};

    file.path = "/none/lib.so";
    check_line("1000-2000 r-xp 00003000 08:01 12      /none/lib.so\n", file);
    file.path = "/none/a b (deleted)";
    check_line("1000-2000 r-xp 00003000 08:01 12      /none/a b (deleted)", file);
    file.device = makedev(0x103, 0xfffff); /* nvme, and the largest possible minor number */
    file.inode = 18446744073709551615u;
    file.path = "/a";
    check_line("1000-2000 --xs 00003000 103:fffff 18446744073709551615 /a\n", file);
    struct maps_entry entry = none;
    entry.executable = true;
    entry.path = "/none/new\nline";
    check_line("1000-2000 r-xp 00000000 00:00 0  /none/new\\012line\n", entry);
    entry.path = "/none/\n\n";
    check_line("1000-2000 r-xp 00000000 00:00 0  /none/\\012\\012\n", entry);
    entry.path = "/none/\\01\n3\\";
    check_line("1000-2000 r-xp 00000000 00:00 0  /none/\\01\\0123\\\n", entry);
    entry.path = "[vdso]";
    check_line("1000-2000 r-xp 00000000 00:00 0  [vdso]\n", entry);
    entry = none;
    check_line("1000-2000 rw-p 00000000 00:00 0 \n", entry);
    check_line("1000-2000 rw-p 00000000 00:00 0\n", entry);
    check_line("1000-2000 rw-p 00000000 00:00 0", entry);
    entry.path = "[anon:a/b]";
    check_line("1000-2000 rw-p 00000000 00:00 0  [anon:a/b]\n", entry);
    entry.end = UINT64_MAX;
    entry.offset = 0xfffffffffffffff8;
    entry.path = "/wraps";
    check_line("1000-ffffffffffffffff ---p fffffffffffffff8 0:0 0 /wraps\n", entry);
}

TEST(lines_that_are_none)
{
    static const char *const wrong[] = {
        "\n", "-", "1000", "1000-", "1000-2000", "1000-2000 ", "1000-2000 r-xp", "1000-2000 r-xp ",
        "1000-2000 r-xp 0", "1000-2000 r-xp x 0:0 0 /a", "-1000-2000 r-xp 0 0:0 0 /a",
        "1000 2000 r-xp 0 0:0 0 /a", "2000-1000 r-xp 0 0:0 0 /a", "1010-1010 r-xp 0 0:0 0 /a",
        "g000-2000 r-xp 0 0:0 0 /a", "1000--2000 r-xp 0 0:0 0 /a", "+1000-2000 r-xp 0 0:0 0 /a",
        "10000000000000000-20000000000000000 r-xp 0 0:0 0 /a", "1000-2000 r-xp 0 0:0",
        "1000-2000 r-xp 0 0:0 ", "1000-2000 r-xp 0 0 0 /a", "1000-2000 r-xp 0 0:0 x /a",
        "1000-2000 r-xp 0 0:0 1x /a", "1000-2000 r-xp 0 :0 0 /a", "1000-2000 r-xp 0 0: 0 /a",
    };

    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        AUTO_TEXT maps = {0};
        struct seen seen = {.count = 0};
        int before = test_failures_here;
        text_format(&maps, "%s\n", wrong[i]);
        CHECK_NUMBER(read_text(maps.data, maps.length, &seen), 0);
        CHECK_NUMBER(seen.count, 0);
        /* And the lines after such a line are read. */
        text_format(&maps, "1000-2000 r-xp 5000 0:0 0 /right\n");
        CHECK_NUMBER(read_text(maps.data, maps.length, &seen), 0);
        CHECK_NUMBER(seen.count, 1);
        CHECK_STRING(seen.path, "/right");
        if (test_failures_here > before)
            printf("  in %s\n", wrong[i]);
    }
}

TEST(random_maps)
{
    static const char good[] =
        "00400000-00452000 r-xp 00000000 08:02 173521      /usr/bin/dbus-daemon\n"
        "00e03000-00e24000 rw-p 00000000 00:00 0           [heap]\n"
        "35b1800000-35b1820000 r-xp 00000000 08:02 135522  /usr/lib64/ld-2.15.so (deleted)\n"
        "7fffb2c0d000-7fffb2c2e000 rw-p 00000000 00:00 0   [anon:x/y]\n";
    static const char likely[] = "0123456789abcdef-- \n\\012/[]\0:xp";
    char maps[sizeof(good)];

    srand(6);
    for (int round = 0; round < 5000; round++) {
        struct seen seen = {.count = 0};
        memcpy(maps, good, sizeof(good));
        for (int i = rand() % 20; i >= 0; i--)
            maps[(size_t)rand() % sizeof(maps)] = likely[(size_t)rand() % sizeof(likely)];
        CHECK_NUMBER(read_text(maps, (size_t)rand() % sizeof(maps), &seen), 0);
        CHECK(!seen.count || seen.last.start < seen.last.end);
    }
}

TEST(reading_that_ends_early)
{
    struct seen seen = {.answer = -EXDEV};
    static const char two[] = "1000-2000 r-xp 0 0:0 0 /a\n2000-3000 r-xp 0 0:0 0 /b\n";
    AUTO_FD fd = open("/", O_RDONLY | O_CLOEXEC);

    CHECK_NUMBER(read_text(two, sizeof(two) - 1, &seen), -EXDEV);
    CHECK_NUMBER(seen.count, 1);
    CHECK_NUMBER(maps_each(fd, take, &seen), -EISDIR);
    CHECK_NUMBER(maps_each(-1, take, &seen), -EBADF);
    CHECK_NUMBER(seen.count, 1);
}

TEST(processes_by_number)
{
    struct seen seen = {.count = 0};
    uint32_t shown_by = 0;
    siginfo_t info;
    pid_t child = fork();

    if (!child)
        _exit(0);
    CHECK_NUMBER(maps_each_of((uint32_t)getpid(), &shown_by, take, &seen), 0);
    CHECK_NUMBER(shown_by, getpid());
    CHECK(seen.count > 3);
    seen.count = 0;
    CHECK_NUMBER(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    CHECK_NUMBER(maps_each_of((uint32_t)child, &shown_by, take, &seen), 0); /* a zombie */
    CHECK_NUMBER(shown_by, child);
    waitpid(child, NULL, 0);
    CHECK_NUMBER(maps_each_of((uint32_t)child, &shown_by, take, &seen), -ENOENT);
    CHECK_NUMBER(maps_each_of(UINT32_MAX, &shown_by, take, &seen), -ENOENT);
    CHECK_NUMBER(seen.count, 0);
}

TEST_MAIN
