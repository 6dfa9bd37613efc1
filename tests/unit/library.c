/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Libraries by their short names: caches of every format, foreign roots, hostile bytes. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/opening.h"
#include "base/reading.h"
#include "find/library.h"
#include "machine/machine.h"
#include "sandbox/sandbox.h"
#include "unit/files.h"
#include "unit/followable.h"

/* ---- caches, made from the tables of the format */

struct cache {
    char bytes[4096];
    size_t length;
    bool big;
};

static void put(struct cache *cache, size_t at, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        cache->bytes[at + i] = (char)(value >> 8 * (cache->big ? size - 1 - i : i));
    if (cache->length < at + size)
        cache->length = at + size;
}

static uint32_t put_string(struct cache *cache, const char *string)
{
    size_t at = cache->length;

    memcpy(cache->bytes + at, string, strlen(string) + 1);
    cache->length += strlen(string) + 1;
    return (uint32_t)at;
}

struct pair {
    const char *name, *path;
    uint64_t hwcap;
};

static void add_old(struct cache *cache, const struct pair *pairs, size_t count)
{
    size_t strings = 16 + count * 12;

    memcpy(cache->bytes, "ld.so-1.7.0", 11);
    put(cache, 12, 4, count);
    cache->length = strings;
    for (size_t i = 0; i < count; i++) {
        put(cache, 16 + i * 12, 4, 0x303);
        put(cache, 16 + i * 12 + 4, 4, put_string(cache, pairs[i].name) - strings);
        put(cache, 16 + i * 12 + 8, 4, put_string(cache, pairs[i].path) - strings);
    }
}

static void add_new(struct cache *cache, const struct pair *pairs, size_t count, uint8_t order)
{
    size_t start = cache->length = (cache->length + 7) & ~(size_t)7;

    memcpy(cache->bytes + start, "glibc-ld.so.cache1.1", 20);
    put(cache, start + 20, 4, count);
    put(cache, start + 28, 1, order);
    cache->length = start + 48 + count * 24;
    for (size_t i = 0; i < count; i++) {
        size_t at = start + 48 + i * 24;
        put(cache, at, 4, 0x303);
        put(cache, at + 4, 4, put_string(cache, pairs[i].name) - start);
        put(cache, at + 8, 4, put_string(cache, pairs[i].path) - start);
        put(cache, at + 16, 8, pairs[i].hwcap);
    }
}

static int note_entry(void *context, const struct link_cache_entry *entry)
{
    text_format(context, "%s=%s%s ", entry->name, entry->path, entry->special ? "!" : "");
    return 0;
}

static void check_cache(const struct cache *cache, const char *expected)
{
    AUTO_TEXT seen = {0};

    CHECK_NUMBER(link_cache_each(cache->bytes, cache->length, note_entry, &seen), 0);
    CHECK_STRING(seen.data ? seen.data : "", expected);
}

static const struct pair two[] = {{"liba.so.1", "/lib/liba.so.1", 0},
                                  {"libb.so.2", "/v3/libb.so.2", 1ull << 62}};

/* As glibc's ldconfig wrote it for years: the new table after the old one, all strings last. */
static void add_both(struct cache *cache, uint8_t order)
{
    add_old(cache, two, 1);
    memset(cache->bytes + 28, 0, sizeof(cache->bytes) - 28);
    cache->length = 28;
    add_new(cache, two + 1, 1, order);
}

TEST(cache_formats)
{
    for (int big = 0; big < 2; big++) {
        struct cache old = {.big = big}, new = {.big = big}, both = {.big = big};
        add_old(&old, two, 2);
        check_cache(&old, "liba.so.1=/lib/liba.so.1 libb.so.2=/v3/libb.so.2 ");
        add_new(&new, two, 2, big ? 3 : 2);
        check_cache(&new, "liba.so.1=/lib/liba.so.1 libb.so.2=/v3/libb.so.2! ");
        put(&new, 28, 1, 0); /* no byte order given: the count shows it */
        check_cache(&new, "liba.so.1=/lib/liba.so.1 libb.so.2=/v3/libb.so.2! ");
        add_both(&both, big ? 3 : 2);
        check_cache(&both, "libb.so.2=/v3/libb.so.2! ");
    }
}

TEST(hostile_caches)
{
    struct cache cache = {0}, both = {0};
    AUTO_TEXT seen = {0};

    CHECK_NUMBER(link_cache_each("", 0, note_entry, &seen), -ENOEXEC);
    CHECK_NUMBER(link_cache_each("ld.so-1.7.0", 11, note_entry, &seen), -ENOEXEC);
    CHECK_NUMBER(link_cache_each("#!/bin/sh\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
                                 40, note_entry, &seen), -ENOEXEC);
    add_new(&cache, two, 2, 2);
    /* Strings outside, and one without an end. */
    struct cache bad = cache;
    put(&bad, 48 + 4, 4, bad.length);
    put(&bad, 72 + 8, 4, UINT32_MAX);
    check_cache(&bad, "");
    bad = cache;
    bad.bytes[bad.length - 1] = 'x';
    check_cache(&bad, "liba.so.1=/lib/liba.so.1 ");
    put(&bad, 20, 4, UINT32_MAX);
    CHECK_NUMBER(link_cache_each(bad.bytes, bad.length, note_entry, &seen), -ENOEXEC);
    /* Every truncation, in memory of exactly that size, which the sanitizer guards. */
    add_both(&both, 2);
    for (size_t length = 0; length <= both.length; length++) {
        char *copy = malloc(length ? length : 1);
        memcpy(copy, both.bytes, length);
        (void)link_cache_each(copy, length, note_entry, &seen);
        free(copy);
        text_clear(&seen);
    }
    srand(3);
    for (int round = 0; round < 100000; round++) {
        bad = both;
        for (int i = rand() % 8; i >= 0; i--)
            bad.bytes[(size_t)rand() % (i % 2 ? 80 : bad.length)] = (char)(rand() % 300);
        (void)link_cache_each(bad.bytes, bad.length, note_entry, &seen);
        text_clear(&seen);
    }
}

/* ---- names */

TEST(ranks)
{
    /* Each takes precedence over those after it. */
    static const char *const names[] = {"foo", "libfoo.so.1", "libfoo.so", "libfoo-1.2.so"};
    static const char *const others[] = {
        "libfo.so.1", "libfoo1.so", "libfoo.so.py", "libfoobar.so", "libfoo-bar.so", "libfoo.a",
        "libfoo", "libfoo-", "libfoo-1", "libfoo.sox", "xlibfoo.so", "libfoo-1.2.sx", "fo", "",
        "lib", "libfoo.so.", "libfoo-1.2so",
    };

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        CHECK(library_name_rank("foo", names[i]));
        CHECK(!i || library_name_rank("foo", names[i - 1]) > library_name_rank("foo", names[i]));
    }
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if (library_name_rank("foo", others[i]))
            WRONG(others[i]);
    CHECK(library_name_rank("c", "libc.so.6") > library_name_rank("c", "ld-musl-x86_64.so.1"));
    CHECK(library_name_rank("c", "ld-musl-x86_64.so.1"));
    CHECK(library_name_rank("libssl", "libssl.so.3"));
    CHECK(library_name_rank("stdc++", "libstdc++.so.6"));
    CHECK(library_name_rank("db-5.3", "libdb-5.3.so"));
    CHECK(!library_name_rank("c", "libc++.so.1"));
    CHECK(!library_name_rank("m", "libmvec.so.1"));
}

TEST(versions)
{
    struct library_candidates candidates = {.typed = "foo"};
    static const char *const expected[] = {"libfoo.so.10.1", "v3/libfoo.so.10", "libfoo.so.10",
                                           "libfoo.so.9.2",  "libfoo.so.2",     "libfoo.so"};
    static const int order[] = {3, 5, 0, 2, 4, 1};

    for (size_t i = 0; i < COUNT_OF(order); i++) {
        const char *path = expected[order[i]];
        const struct library_candidate candidate = {.path = path, .level = *path == 'v'};
        CHECK_NUMBER(library_offer(&candidates, base_name(path), &candidate), 0);
    }
    library_sort(&candidates);
    CHECK_NUMBER(candidates.count, COUNT_OF(expected));
    for (size_t i = 0; i < candidates.count; i++)
        CHECK_STRING(candidates.items[i].path, expected[i]);
    library_forget(&candidates);
}

#if defined(__x86_64__)
/*
 * The kernel does not list lzcnt (abm) on every machine that has it. lzcnt of 1 is 63; a CPU that
 * lacks lzcnt runs bsr instead, which gives 0.
 */
static bool has_lzcnt(void)
{
    uint64_t zeros;

    __asm__("lzcnt %1, %0" : "=r"(zeros) : "r"(UINT64_C(1)) : "cc");
    return zeros == 63;
}
#endif

/* The glibc-hwcaps directories, by the CPU features that the kernel lists. */
TEST(processor_levels)
{
    struct text info = {0};

    CHECK_NUMBER(machine_level_of("/lib/libfoo.so.1"), 0);
    CHECK_NUMBER(machine_level_of("/lib/glibc-hwcaps/"), 0);
    CHECK_NUMBER(machine_level_of("/lib/glibc-hwcaps/x86-64-v"), 0);
    CHECK_NUMBER(machine_level_of("/lib/glibc-hwcaps/x86-64-v9/libfoo.so.1"), 0);
#if defined(__x86_64__)
    CHECK_NUMBER(read_file(AT_FDCWD, "/proc/cpuinfo", 8 << 20, &info), 0);
    CHECK_NUMBER(machine_level_of("/lib/glibc-hwcaps/x86-64-v2/libfoo.so.1"),
                 strstr(info.data, " sse4_2 ") ? 2 : 0);
    CHECK_NUMBER(machine_level_of("/lib/glibc-hwcaps/x86-64-v3/libfoo.so.1"),
                 strstr(info.data, " avx2 ") && strstr(info.data, " bmi2 ") &&
                 strstr(info.data, " movbe ") && has_lzcnt() ? 3 : 0);
    CHECK_NUMBER(machine_level_of("/lib/glibc-hwcaps/x86-64-v4/libfoo.so.1"),
                 strstr(info.data, " avx512vl ") ? 4 : 0);
#endif
    text_free(&info);
}

/* ---- roots */

/* Writes a file, and creates the directories on its path. */
static void write_file(const char *path, const void *bytes, size_t length, mode_t mode)
{
    char whole[PATH_MAX];

    snprintf(whole, sizeof(whole), "%s%s", own_directory, path);
    for (char *slash = strchr(whole + strlen(own_directory) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(whole, 0755);
        *slash = '/';
    }
    if (!bytes)
        return;
    AUTO_FD fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    CHECK(fd >= 0 && write(fd, bytes, length) == (ssize_t)length);
}

/* The beginning of an ELF file, enough to give its machine and class. */
static void write_elf(const char *path, int class, uint16_t machine)
{
    unsigned char head[64] = {0x7f, 'E', 'L', 'F', (unsigned char)class, 1, 1};

    head[16] = 3;
    head[18] = (unsigned char)machine;
    head[19] = (unsigned char)(machine >> 8);
    write_file(path, head, sizeof(head), 0755);
}

static uint16_t our_machine(void)
{
    for (uint16_t machine = 300; machine; machine--)
        if (machine_is_ours(machine))
            return machine; /* the 64-bit one has the larger number */
    return 0;
}

static void check_resolved(const char *path, const char *expected)
{
    AUTO_TEXT resolved = {0};
    int seen = see_below(own_directory, path, &resolved);

    if (expected)
        CHECK_STRING(resolved.data, expected);
    else
        CHECK(seen < 0);
    if (seen >= 0)
        close(seen);
}

TEST(links_stay_in_the_root)
{
    char longest[PATH_MAX + 10];

    write_file("/usr/lib/real.so.1", "x", 1, 0644);
    CHECK(!symlink("usr/lib", path_in(own_directory, "lib")));
    CHECK(!symlink("/opt/x", path_in(own_directory, "usr/lib/away.so")));
    write_file("/opt/x", "y", 1, 0644);
    CHECK(!symlink("../../../../../../../../../../etc/passwd", path_in(own_directory, "usr/lib/up.so")));
    CHECK(!symlink("loop2", path_in(own_directory, "loop1")));
    CHECK(!symlink("/loop1", path_in(own_directory, "loop2")));
    CHECK(!symlink(".", path_in(own_directory, "dot")));
    CHECK(!symlink("/../lib/./real.so.1", path_in(own_directory, "dots")));
    check_resolved("/lib/real.so.1", "/usr/lib/real.so.1");
    check_resolved("//lib/.././lib//real.so.1", "/usr/lib/real.so.1");
    check_resolved("/usr/lib/away.so", "/opt/x");
    check_resolved("/usr/lib/up.so", NULL); /* there is no etc/passwd in this root */
    check_resolved("/../../../etc/passwd", NULL);
    check_resolved("/loop1", NULL);
    check_resolved("/dot/dot/dot/opt/x", "/opt/x");
    check_resolved("/dots", "/usr/lib/real.so.1");
    check_resolved("/usr/lib/real.so.1/x", NULL);
    check_resolved("/", "");
    memset(longest, 'a', sizeof(longest) - 1);
    longest[0] = '/';
    longest[sizeof(longest) - 1] = '\0';
    check_resolved(longest, NULL);
    memset(longest, '/', sizeof(longest) - 1);
    check_resolved(longest, NULL);
}

TEST(only_regular_files)
{
    AUTO_TEXT resolved = {0};

    CHECK_NUMBER(policy_open(own_directory, "/usr", &resolved), -EISDIR);
    CHECK(!mkfifo(path_in(own_directory, "fifo"), 0600));
    CHECK_NUMBER(policy_open(own_directory, "/fifo", &resolved), -EINVAL); /* and does not block */
    CHECK_NUMBER(policy_open("", "/dev/null", NULL), -EINVAL);
    CHECK_NUMBER(policy_open(own_directory, "/missing", &resolved), -ENOENT);
}

/* ---- the search */

static struct text error;

static void check_found(const char *typed, const char *expected)
{
    struct library_where where = {.root = own_directory};
    struct library library;

    text_clear(&error);
    int result = library_find(&where, typed, &library, &error);
    if (!expected) {
        CHECK_NUMBER(result, -ENOENT);
        CHECK(error.length && !strchr(error.data, '\n'));
        return;
    }
    CHECK_NUMBER(result, 0);
    if (result) {
        printf("  %s: %s\n", typed, error.data);
        return;
    }
    CHECK_STRING(library.path.data, expected);
    CHECK_STRING(library.file.data, path_in(own_directory, expected + 1));
    CHECK(fcntl(library.fd, F_GETFD) >= 0);
    library_close(&library);
}

/* Searches the cache, a truncated cache, the directories, musl's directories, and PATH. */
TEST(order_of_search)
{
    static const struct pair known[] = {
        {"libone.so.3", "/opt/libone.so.3", 0},   {"libone.so.12", "/opt/libone.so.12", 0},
        {"libone.so.99", "/opt/v3/libone.so.99", 5}, {"libone.so", "/opt/libone.so", 0},
        {"libgone.so.1", "/opt/libgone.so.1", 0}, {"libold.so.9", "/opt/libold.so.9", 0},
        {"libold.so.1", "/opt/libold.so.1", 0},
    };
    struct cache cache = {0};
    uint16_t ours = our_machine();

    add_new(&cache, known, COUNT_OF(known), 2);
    write_file("/etc/ld.so.cache", cache.bytes, cache.length, 0644);
    write_elf("/opt/libone.so.3", 2, ours);
    write_elf("/opt/libone.so.12", 2, ours);
    write_elf("/opt/v3/libone.so.99", 2, ours);
    write_file("/opt/libone.so", "GROUP ( libone.so.12 )\n", 23, 0644);
    check_found("one", "/opt/libone.so.12");
    check_found("libone.so.3", "/opt/libone.so.3");
    check_found("libone", "/opt/libone.so.12");
    check_found("gone", NULL);
    CHECK(strstr(error.data, "no library or program \"gone\": looked in /etc/ld.so.cache"));
    write_elf("/opt/libold.so.9", 1, ours);
    write_elf("/opt/libold.so.1", 2, ours);
    check_found("old", "/opt/libold.so.1"); /* 64-bit before 32-bit, also an old one */
    write_elf("/opt/libold.so.1", 2, 0x7777);
    check_found("old", "/opt/libold.so.9");

    write_elf("/usr/lib/libtwo.so.1", 2, ours);
    write_elf("/usr/lib/libtwo.so.20.py", 2, ours);
    write_elf("/usr/lib/libtwo.so.2.dpkg-new", 2, ours);
    CHECK(!symlink("libtwo.so.1", path_in(own_directory, "usr/lib/libtwo.so.2")));
    write_file("/usr/lib/libscript.so", "INPUT(-lone)\n", 13, 0644);
    check_found("two", "/usr/lib/libtwo.so.1");
    check_found("script", NULL);
    write_file("/etc/ld.so.cache", "junk", 4, 0644);
    check_found("one", NULL);
    check_found("two", "/usr/lib/libtwo.so.1");

    write_elf("/srv/musl/libthree.so", 2, ours);
    check_found("three", NULL);
    write_file("/etc/ld-musl-x86_64.path", "/nowhere:/srv/musl\n/usr/local/lib", 33, 0644);
    check_found("three", "/srv/musl/libthree.so");
    write_elf("/usr/local/lib/libfour.so.4", 2, ours);
    check_found("four", "/usr/local/lib/libfour.so.4");

    setenv("PATH", "relative:/usr/bin::/bin", 1);
    write_file("/bin/tool", "#!/bin/sh\n", 10, 0755);
    write_file("/usr/bin/tool", "data\n", 5, 0644); /* not executable */
    check_found("tool", "/bin/tool");
    check_found("/bin/tool", "/bin/tool");
    check_found("/usr/bin/tool", "/usr/bin/tool");
    check_found("/bin/missing", NULL);
    check_found("", NULL);
    check_found("..", NULL);
}

/* musl's file: Alpine's libc. */
TEST(c_library_of_musl)
{
    check_found("c", NULL);
    write_elf("/usr/lib/ld-musl-x86_64.so.1", 2, our_machine());
    check_found("c", "/usr/lib/ld-musl-x86_64.so.1");
    write_elf("/usr/lib/libc.so.6", 2, our_machine());
    check_found("c", "/usr/lib/libc.so.6");
}

/* With what the process has mapped now. */
static int find_of_process(struct library_where *where, const char *typed, struct library *library)
{
    AUTO(library_seen_free) struct library_seen seen;

    CHECK_NUMBER(library_see(where->pid, &typed, 1, &seen), 0);
    where->seen = &seen;
    return library_find(where, typed, library, &error);
}

/* Our own process: the mapped file, and the kernel's names for it. */
TEST(of_a_process)
{
    struct library_where where = {.root = "", .pid = (uint32_t)getpid()};
    struct library library;
    char exe[PATH_MAX] = "";

    text_clear(&error);
    CHECK(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
    CHECK_NUMBER(find_of_process(&where, base_name(exe), &library), 0);
    CHECK_STRING(library.path.data, exe);
    CHECK_STRING(library.file.data, exe);
    library_close(&library);
    CHECK_NUMBER(find_of_process(&where, "/proc/self/exe", &library), 0);
    CHECK_STRING(library.path.data, exe);
    library_close(&library);
    AUTO_TEXT root = {0};
    CHECK_NUMBER(root_of_process((uint32_t)getpid(), &root), 0);
    CHECK_STRING(root.data, "");
}

/* A process's library that is deleted and replaced meanwhile: the old one is used. */
TEST(deleted_while_mapped)
{
    struct library_where where = {.root = "", .pid = (uint32_t)getpid()};
    const char *path = path_in(own_directory, "srv/libmapped.so.1");
    struct library library;
    struct stat old, found;

    write_elf("/srv/libmapped.so.1", 2, our_machine());
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *mapped = mmap(NULL, 64, PROT_READ, MAP_PRIVATE, fd, 0);
    CHECK(fd >= 0 && mapped != MAP_FAILED && !fstat(fd, &old));
    close(fd);
    text_clear(&error);
    CHECK_NUMBER(find_of_process(&where, "mapped", &library), 0);
    CHECK_STRING(library.file.data, path);
    library_close(&library);
    unlink(path);
    write_elf("/srv/libmapped.so.1", 2, our_machine());
    for (int by_path = 0; by_path < 2; by_path++) {
        text_clear(&error);
        int result = find_of_process(&where, by_path ? path : "mapped", &library);
        if (result) { /* without the capability to open it: no other file instead, and a reason */
            CHECK(!can_follow_mappings() && strstr(error.data, "was deleted, and cannot be opened: "));
            continue;
        }
        CHECK(!fstat(library.fd, &found) && found.st_ino == old.st_ino);
        CHECK_STRING(library.path.data, path);
        CHECK(strstr(library.file.data, "/map_files/"));
        library_close(&library);
    }
    munmap(mapped, 64);
}

/* A child in another root: its files, by paths that can be opened from here. */
TEST(process_in_another_root)
{
    int ready[2];
    char byte;
    AUTO_TEXT root = {0}, file = {0};
    struct library library;

    CHECK(!pipe(ready));
    pid_t child = fork();
    if (!child) {
        byte = !chroot(own_directory) && !chdir("/");
        _exit(write(ready[1], &byte, 1) != 1 || pause());
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    struct library_where where = {.pid = (uint32_t)child};
    CHECK_NUMBER(root_of_process((uint32_t)child, &root), 0);
    where.root = root.data;
    if (byte) {
        text_format(&file, "/proc/%d/root", (int)child);
        CHECK_STRING(root.data, file.data);
        CHECK_NUMBER(find_of_process(&where, "/usr/lib/away.so", &library), 0);
        CHECK_STRING(library.path.data, "/opt/x");
        text_add(&file, "/opt/x");
        CHECK_STRING(library.file.data, file.data);
        library_close(&library);
        CHECK_NUMBER(find_of_process(&where, "/lib/libtwo.so.2", &library), 0);
        CHECK_STRING(library.path.data, "/usr/lib/libtwo.so.1");
        library_close(&library);
        /* A path that is missing in the other root may be opened in our own. */
        CHECK_NUMBER(find_of_process(&where, "/proc/self/exe", &library), 0);
        library_close(&library);
    }
    if (child > 0) /* kill(-1) signals all processes */
        kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
}

int main(void)
{
    if (!enter_own_directory())
        return 1;
    run_tests();
    remove_own_directory();
    return tests_done();
}
