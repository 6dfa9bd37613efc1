/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions of perf maps: hand-written maps, random ones compared with a linear search, maps that
   are truncated at each byte or shrink while they are read, and files that are no maps. */
#include "processes/jitmap.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "files.h"
#include "test.h"

#define MOST_ADDRESSES 64

/* ---- By hand ---- */

struct expectation {
    uint64_t address;
    const char *name; /* NULL: none */
    uint64_t start;
};

static void check_one(const struct expectation *expected, const struct elf_found *found)
{
    const char *name = expected->name;

    if (found->found == (name != NULL) &&
        (!name || (found->name.length == strlen(name) && !strcmp(found->name.data, name) &&
                   found->start == expected->start)))
        return;
    printf("  %llx is \"%s\" at %llx, should be \"%s\" at %llx\n",
           (unsigned long long)expected->address, found->found ? found->name.data : "(none)",
           (unsigned long long)found->start, name ? name : "(none)",
           (unsigned long long)expected->start);
    WRONG("the right entry");
}

static void check_map(const char *map, size_t length, const struct expectation *expected, size_t count)
{
    uint64_t addresses[MOST_ADDRESSES];
    struct elf_found found[MOST_ADDRESSES] = {{0}};
    AUTO_FD fd = file_of(map, length);

    for (size_t i = 0; i < count; i++)
        addresses[i] = expected[i].address;
    CHECK_NUMBER(jitmap_find(fd, addresses, count, found), 0);
    for (size_t i = 0; i < count; i++)
        check_one(&expected[i], &found[i]);
    elf_found_free(found, count);
}

#define CHECK_MAP(map, expected) \
    check_map(map, sizeof(map) - 1, expected, COUNT_OF(expected))

/*
 * Memory does not grow with the file, nor with a line of it. This comes first: the other tests' freed
 * memory would hide a growth.
 */
TEST(bounded_memory)
{
    struct rusage before, after;
    const uint64_t addresses[] = {0x1000, 0x2000};
    struct elf_found found[2] = {{0}};
    char piece[4096];
    AUTO_FD fd = memfd_create("map", MFD_CLOEXEC);

    for (size_t i = 0; i < sizeof(piece); i += 16)
        memcpy(piece + i, "fff ffffffff ab\n", 16);
    for (size_t i = 0; i < 16384; i++)
        CHECK(write(fd, piece, sizeof(piece)) == (ssize_t)sizeof(piece));
    getrusage(RUSAGE_SELF, &before);
    CHECK_NUMBER(jitmap_find(fd, addresses, 2, found), 0);
    getrusage(RUSAGE_SELF, &after);
    CHECK(found[0].found && found[1].found && !strcmp(found[1].name.data, "ab"));
    CHECK(after.ru_maxrss - before.ru_maxrss < 4096);
    elf_found_free(found, 2);
}

TEST(forms_of_lines)
{
    static const char map[] = "1000 10 plain\n"
                              "0x1100 0x10 prefixed\n"
                              "0X1200 0X10 Prefixed\n"
                              "00000000000000001300 0010 zeros\n"
                              "abcDEF00 fF mixed case\n"
                              "1400 10 with  blanks, and\ttabs \n"
                              "1500 10 carriage return\r\n"
                              "1600 10 control\x1b[2J\x01 bytes\r.\n"
                              "1700\t10\ttabs between\n"
                              "  1800  10   blanks between\n"
                              "1900 10 1900 10 numbers\n"
                              "1a00 1 one byte\n"
                              "\n"
                              "1b00 10 after an empty line\n"
                              "ffff800000000000 10 high\n";
    static const struct expectation expected[] = {
        {0xfff, NULL, 0},
        {0x1000, "plain", 0x1000},
        {0x100f, "plain", 0x1000},
        {0x1010, NULL, 0},
        {0x1100, "prefixed", 0x1100},
        {0x1208, "Prefixed", 0x1200},
        {0x130f, "zeros", 0x1300},
        {0x1400, "with  blanks, and\ttabs ", 0x1400},
        {0x1500, "carriage return", 0x1500},
        {0x1600, "control\x1b[2J\x01 bytes\r.", 0x1600},
        {0x1701, "tabs between", 0x1700},
        {0x1801, "blanks between", 0x1800},
        {0x1901, "1900 10 numbers", 0x1900},
        {0x19ff, NULL, 0},
        {0x1a00, "one byte", 0x1a00},
        {0x1a01, NULL, 0},
        {0x1b00, "after an empty line", 0x1b00},
        {0xabcdeffe, "mixed case", 0xabcdef00},
        {0xabcdefff, NULL, 0},
        {0xffff80000000000f, "high", 0xffff800000000000},
        {UINT64_MAX, NULL, 0},
    };
    CHECK_MAP(map, expected);
}

TEST(lines_of_other_forms)
{
    static const char map[] = "1000\n"
                              "1000 \n"
                              "1000 g0 no number\n"
                              "g000 10 no number\n"
                              "1000h 10 letters behind\n"
                              "1000 10h letters behind\n"
                              "-1000 10 a sign\n"
                              "+1000 10 a sign\n"
                              "1000 -1 a sign\n"
                              "0x 10 no digits\n"
                              "x1000 10 half a prefix\n"
                              "1000 0x no digits\n"
                              "1000,10,commas\n"
                              "11000000000001000 10 more than 64 bits\n"
                              "1000 10000000000000010 more than 64 bits\n"
                              " \t \n"
                              "\0\0\0\0\n"
                              "1000\0 10 a NUL\n"
                              "# a comment\n";
    static const struct expectation expected[] = {
        {0, NULL, 0}, {0x10, NULL, 0}, {0x1000, NULL, 0}, {0x1001, NULL, 0}};
    CHECK_MAP(map, expected);
}

/* Names end only at a newline: a NUL is a byte like others, and is escaped when it is shown. */
TEST(name_with_nul)
{
    static const char map[] = "1000 10 a\0b\n";
    const uint64_t address = 0x1000;
    struct elf_found found = {0};
    AUTO_FD fd = file_of(map, sizeof(map) - 1);

    CHECK_NUMBER(jitmap_find(fd, &address, 1, &found), 0);
    CHECK(found.found && found.name.length == 3 && !memcmp(found.name.data, "a\0b", 4));
    elf_found_free(&found, 1);
}

TEST(newest_wins)
{
    static const char map[] = "1000 100 first\n"
                              "1040 20 inside\n"
                              "10f0 20 over its end\n"
                              "2000 10 replaced\n"
                              "2000 10 replacing\n"
                              "3000 10 inner\n"
                              "2ff0 40 around\n"
                              "4000 10 freed\n"
                              "4000 10 \n"
                              "5000 10 freed too\n"
                              "5000 10\n"
                              "6000 10 kept\n"
                              "6000 0 of no size\n"
                              "7000 10 freed as well\r\n"
                              "7000 10\r\n";
    static const struct expectation expected[] = {
        {0x1000, "first", 0x1000},        {0x103f, "first", 0x1000},
        {0x1040, "inside", 0x1040},       {0x105f, "inside", 0x1040},
        {0x1060, "first", 0x1000},        {0x10ef, "first", 0x1000},
        {0x10f0, "over its end", 0x10f0}, {0x10ff, "over its end", 0x10f0},
        {0x110f, "over its end", 0x10f0}, {0x1110, NULL, 0},
        {0x2000, "replacing", 0x2000},    {0x2ff0, "around", 0x2ff0},
        {0x3000, "around", 0x2ff0},       {0x302f, "around", 0x2ff0},
        {0x4000, NULL, 0},                {0x5000, NULL, 0},
        {0x6000, "kept", 0x6000},         {0x7000, NULL, 0},
    };
    CHECK_MAP(map, expected);
}

TEST(ends_of_the_space)
{
    static const char map[] = "0 10 lowest\n"
                              "fffffffffffffff0 8 below the end\n"
                              "fffffffffffffff8 8 to the end\n"
                              "ffffffffffffff00 ffffffffffffff10 beyond the end\n"
                              "fffffffffffffff8 1000 beyond it too\n";
    static const struct expectation expected[] = {
        {0, "lowest", 0},
        {0xf, "lowest", 0},
        {0x10, NULL, 0},
        {0xfffffffffffffeff, NULL, 0},
        {0xffffffffffffff00, "beyond the end", 0xffffffffffffff00},
        {0xfffffffffffffff7, "beyond the end", 0xffffffffffffff00},
        {0xfffffffffffffff8, "beyond it too", 0xfffffffffffffff8},
        {UINT64_MAX, "beyond it too", 0xfffffffffffffff8},
    };
    static const char all[] = "0 ffffffffffffffff nearly all\n";
    static const struct expectation of_all[] = {{0, "nearly all", 0},
                                                {UINT64_MAX - 1, "nearly all", 0},
                                                {UINT64_MAX, NULL, 0}};
    CHECK_MAP(map, expected);
    CHECK_MAP(all, of_all);
}

/* An incomplete line cannot be recognized: a size and a name look whole at any byte. */
TEST(half_lines)
{
    static const char map[] = "1000 10 whole\n1000 100 half";
    static const struct expectation expected[] = {{0x1000, "whole", 0x1000}, {0x1010, NULL, 0}};
    static const struct expectation none[] = {{0x1000, NULL, 0}};

    CHECK_MAP(map, expected);
    CHECK_MAP("1000 10 half", none);
    CHECK_MAP("", none);
    CHECK_MAP("\n", none);
}

/* Truncated at each byte, a map has the entries whose newlines are there, and no others. */
TEST(truncations)
{
    static const char map[] = "1000 10 one\n0x1000 0x8 two\n1004 4 three\r\n800 1000 four\n";
    static const char *const names[] = {NULL, "one", "two", "three", "four"};
    static const uint64_t starts[] = {0, 0x1000, 0x1000, 0x1004, 0x800};
    size_t newlines = 0;

    for (size_t length = 0; length < sizeof(map); length++) {
        newlines += length && map[length - 1] == '\n';
        const struct expectation expected = {0x1004, names[newlines], starts[newlines]};
        check_map(map, length, &expected, 1);
    }
    CHECK_NUMBER(newlines, 4);
}

/* ---- Long lines and large files ---- */

static char *long_map(size_t *length, const char *before, size_t bytes, const char *behind)
{
    char *map = malloc(strlen(before) + bytes + strlen(behind) + 1);

    strcpy(map, before);
    memset(map + strlen(before), 'n', bytes);
    strcpy(map + strlen(before) + bytes, behind);
    *length = strlen(map);
    return map;
}

/* A name of `bytes` letters, with a line before and one after it, at every offset in a buffer. */
static void check_long(size_t bytes)
{
    char name[1025];
    size_t length, shown = bytes < 1024 ? bytes : 1024;
    const struct expectation expected[] = {
        {0x1000, "before", 0x1000}, {0x2000, name, 0x2000}, {0x3000, "behind", 0x3000}};
    const struct expectation unended[] = {
        {0x1000, "before", 0x1000}, {0x2000, NULL, 0}, {0x3000, NULL, 0}};
    char *map = long_map(&length, "1000 10 before\n2000 10 ", bytes, "\n3000 10 behind\n");

    memset(name, 'n', shown);
    name[shown] = '\0';
    check_map(map, length, expected, COUNT_OF(expected));
    check_map(map, length - strlen("\n3000 10 behind\n"), unended, COUNT_OF(unended));
    free(map);
}

TEST(long_lines)
{
    static const size_t lengths[] = {1000,  1023,  1024,   1025,   1151,   1152,   4096,
                                     65500, 65535, 131072, 196600, 262144, 1000000};

    for (size_t i = 0; i < COUNT_OF(lengths); i++)
        check_long(lengths[i]);
    /* Around the size of the reader's buffer, minus what comes before the name. */
    for (size_t bytes = 65536 - 64; bytes < 65536 + 8; bytes++)
        check_long(bytes);
}

/* The end of a long line looks like an entry, but is not one. */
TEST(ends_of_long_lines)
{
    static const struct expectation expected[] = {
        {0x1000, NULL, 0}, {0x2000, NULL, 0}, {0x3000, "behind", 0x3000}};

    for (size_t bytes = 65536 - 16; bytes < 65536 + 16; bytes++) {
        size_t length;
        char *map = long_map(&length, "", bytes, "1000 10 end\n3000 10 behind\n");
        check_map(map, length, expected, COUNT_OF(expected));
        /* Numbers too far into a line do not count: the reader keeps only its beginning. */
        memset(map, ' ', bytes);
        check_map(map, length, expected, COUNT_OF(expected));
        memset(map, '0', bytes);
        check_map(map, length, expected, COUNT_OF(expected));
        free(map);
    }
}

/* A name must begin within the first 128 bytes of its line; otherwise there is no entry. */
TEST(late_names)
{
    for (size_t blanks = 1; blanks < 200; blanks++) {
        char map[512];
        const struct expectation expected = {
            0x1000, blanks + strlen("1000 10") < 128 ? "late" : NULL, 0x1000};
        int length = snprintf(map, sizeof(map), "1000 10%*slate\n", (int)blanks, "");
        check_map(map, (size_t)length, &expected, 1);
    }
}

/* Lines of every length, so that they are at every offset in the reader's buffer. */
TEST(many_lines)
{
    const size_t lines = 3000;
    AUTO_TEXT map = {0};
    uint64_t *addresses = calloc(lines, sizeof(*addresses));
    struct elf_found *found = calloc(lines, sizeof(*found));
    char filler[300];

    memset(filler, 'x', sizeof(filler));
    for (size_t i = 0; i < lines; i++) {
        addresses[i] = 0x10000 + 16 * i;
        text_format(&map, "%zx 10 %zu", 0x10000 + 16 * i, i);
        text_append(&map, filler, i % sizeof(filler));
        text_add(&map, "\n");
    }
    AUTO_FD fd = file_of(map.data, map.length);
    CHECK_NUMBER(jitmap_find(fd, addresses, lines, found), 0);
    size_t right = 0;
    for (size_t i = 0; i < lines; i++) {
        char name[32];
        int digits = snprintf(name, sizeof(name), "%zu", i);
        right += found[i].found && found[i].start == addresses[i] &&
                 found[i].name.length == (size_t)digits + i % sizeof(filler) &&
                 !memcmp(found[i].name.data, name, (size_t)digits);
    }
    CHECK_NUMBER(right, lines);
    elf_found_free(found, lines);
    free(found);
    free(addresses);
}

/* If a file is too long, its end is read: the newest entries are there. */
TEST(only_the_end)
{
    static const char first[] = "1000 10 too far from the end\n2000 10 old\n";
    static const char last[] = "2000 10 new\n3000 10 last\n";
    const uint64_t addresses[] = {0x1000, 0x2000, 0x3000};
    struct elf_found found[3] = {{0}};
    AUTO_FD fd = file_of(first, sizeof(first) - 1);
    const off_t end = ((off_t)1 << 30) + 4096;

    CHECK(pwrite(fd, "\n", 1, end - 1) == 1);
    /* The end of a line that begins before the part that is read. */
    static const char half[] = "f1000 10 half a line\n";
    const off_t begin = end + (off_t)sizeof(last) - 1 - ((off_t)1 << 30);
    CHECK(pwrite(fd, half, sizeof(half) - 1, begin - 1) == (ssize_t)sizeof(half) - 1);
    CHECK(pwrite(fd, last, sizeof(last) - 1, end) == (ssize_t)sizeof(last) - 1);
    CHECK_NUMBER(jitmap_find(fd, addresses, 3, found), 0);
    CHECK(!found[0].found);
    CHECK(found[1].found && !strcmp(found[1].name.data, "new"));
    CHECK(found[2].found && !strcmp(found[2].name.data, "last"));
    elf_found_free(found, 3);
}

/* ---- At random ---- */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

struct plain_entry {
    uint64_t start, size;
};

/* The name of an entry is its number. */
static void check_against_search(const struct plain_entry *entries, size_t entry_count,
                                 const uint64_t *addresses, size_t count,
                                 const struct elf_found *found)
{
    for (size_t i = 0; i < count; i++) {
        char name[32] = "";
        for (size_t entry = entry_count; entry-- && !*name;)
            if (addresses[i] >= entries[entry].start &&
                addresses[i] - entries[entry].start < entries[entry].size)
                snprintf(name, sizeof(name), "f%zu", entry);
        CHECK_STRING(found[i].found ? found[i].name.data : "", name);
    }
}

static void check_random(uint64_t seed, size_t entry_count, size_t count, uint64_t range)
{
    struct plain_entry *entries = calloc(entry_count, sizeof(*entries));
    uint64_t addresses[MOST_ADDRESSES], base = UINT64_MAX - range / 2;
    struct elf_found found[MOST_ADDRESSES] = {{0}};
    AUTO_TEXT map = {0};
    size_t distinct = 0;

    for (size_t i = 0; i < entry_count; i++) {
        /* Near the end of the address space: some wrap, some are at its beginning. */
        entries[i].start = base + next_random(&seed) % range;
        entries[i].size = next_random(&seed) % (range / (1 + next_random(&seed) % 64));
        text_format(&map, "%llx %llx f%zu\n", (unsigned long long)entries[i].start,
                    (unsigned long long)entries[i].size, i);
    }
    for (size_t i = 0; i < count; i++)
        addresses[i] = base + next_random(&seed) % range;
    qsort(addresses, count, sizeof(*addresses), compare_by_number);
    for (size_t i = 0; i < count; i++)
        if (!i || addresses[i] != addresses[i - 1])
            addresses[distinct++] = addresses[i];
    AUTO_FD fd = file_of(map.data, map.length);
    CHECK_NUMBER(jitmap_find(fd, addresses, distinct, found), 0);
    check_against_search(entries, entry_count, addresses, distinct, found);
    elf_found_free(found, distinct);
    free(entries);
}

TEST(random_maps)
{
    for (unsigned seed = 1; seed <= 1000; seed++)
        check_random(seed * 0x9e3779b97f4a7c15, 1 + seed % 60, 1 + seed % MOST_ADDRESSES, 64 << seed % 9);
}

/* ---- Things that are not files, and files that change ---- */

TEST(other_descriptors)
{
    const uint64_t address = 0x1000;
    struct elf_found found = {0};
    int ends[2], directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    CHECK(!pipe2(ends, O_CLOEXEC));
    CHECK_NUMBER(jitmap_find(ends[0], &address, 1, &found), -EINVAL);
    CHECK_NUMBER(jitmap_find(directory, &address, 1, &found), -EINVAL);
    CHECK_NUMBER(jitmap_find(-1, &address, 1, &found), -EBADF);
    CHECK_NUMBER(jitmap_find(-1, &address, 0, &found), 0);
    CHECK(!found.found);
    elf_found_free(&found, 1);
    close(ends[0]);
    close(ends[1]);
    close(directory);
}

/* The caller's file offset does not change, and does not affect the reading. */
TEST(offset_of_the_caller)
{
    static const char map[] = "1000 10 one\n2000 10 two\n";
    const uint64_t address = 0x1000;
    struct elf_found found = {0};
    AUTO_FD fd = file_of(map, sizeof(map) - 1);

    CHECK(lseek(fd, 14, SEEK_SET) == 14);
    CHECK_NUMBER(jitmap_find(fd, &address, 1, &found), 0);
    CHECK(found.found && !strcmp(found.name.data, "one"));
    CHECK(lseek(fd, 0, SEEK_CUR) == 14);
    elf_found_free(&found, 1);
}

struct shrinking {
    int fd;
    const struct text *map;
    atomic_bool stop;
};

static void *shrink_and_grow(void *context)
{
    struct shrinking *shrinking = context;
    const struct text *map = shrinking->map;
    uint64_t state = 42;

    while (!atomic_load(&shrinking->stop)) {
        size_t length = (size_t)next_random(&state) % map->length;
        if (ftruncate(shrinking->fd, (off_t)length) ||
            pwrite(shrinking->fd, map->data + length, map->length - length, (off_t)length) < 0)
            break;
    }
    return NULL;
}

/*
 * However much of the file exists at any moment, a name is that of an entry that covers the
 * address. A read during a truncation may return zeros for the end.
 */
TEST(shrinking_file)
{
    uint64_t addresses[MOST_ADDRESSES];
    AUTO_TEXT map = {0};
    pthread_t thread;
    size_t runs = 0;

    for (size_t i = 0; i < 20000; i++)
        text_format(&map, "%zx 100 name_%zx\n", 0x1000 + 16 * i, 0x1000 + 16 * i);
    for (size_t i = 0; i < MOST_ADDRESSES; i++)
        addresses[i] = 0x2000 + 4999 * i;
    struct shrinking shrinking = {.fd = file_of(map.data, map.length), .map = &map};
    CHECK(!pthread_create(&thread, NULL, shrink_and_grow, &shrinking));
    for (; runs < 200; runs++) {
        struct elf_found found[MOST_ADDRESSES] = {{0}};
        CHECK_NUMBER(jitmap_find(shrinking.fd, addresses, MOST_ADDRESSES, found), 0);
        for (size_t i = 0; i < MOST_ADDRESSES; i++) {
            char name[32];
            snprintf(name, sizeof(name), "name_%llx", (unsigned long long)found[i].start);
            CHECK(!found[i].found || !strncmp(found[i].name.data, name, strlen(found[i].name.data)));
            CHECK(!found[i].found || addresses[i] - found[i].start < 0x100);
        }
        elf_found_free(found, MOST_ADDRESSES);
    }
    atomic_store(&shrinking.stop, true);
    pthread_join(thread, NULL);
    close(shrinking.fd);
}

TEST_MAIN
