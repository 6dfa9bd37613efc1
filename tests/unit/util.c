/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Arrays, text, numbers, lines and files; and what escape_bytes does with every kind of byte. */
#include "base/index.h"
#include "base/reading.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "files.h"
#include "test.h"

TEST(arrays)
{
    uint32_t *items = NULL;
    size_t room = 0;

    for (uint32_t i = 0; i < 5000; i++) {
        if (array_reserve(&items, &room, i + 1, sizeof(*items))) {
            WRONG("memory");
            return;
        }
        items[i] = i * 3;
    }
    CHECK(room >= 5000 && room < 10000);
    for (uint32_t i = 0; i < 5000; i++)
        CHECK(items[i] == i * 3);
    uint32_t *before = items;
    size_t room_before = room;
    CHECK_NUMBER(array_reserve(&items, &room, SIZE_MAX, sizeof(*items)), -ENOMEM);
    CHECK_NUMBER(array_reserve(&items, &room, SIZE_MAX / 4 + 2, sizeof(*items)), -ENOMEM);
    CHECK(items == before && room == room_before);
    free(items);
}

TEST(text_grows)
{
    struct text text = {0};
    char expected[3000];

    text_append(&text, "", 0);
    CHECK_STRING(text.data, "");
    text_add(&text, "one");
    text_append(&text, "\0two", 4);
    CHECK_NUMBER(text.length, 7);
    CHECK(!memcmp(text.data, "one\0two", 8));
    text_clear(&text);
    CHECK_STRING(text.data, "");
    CHECK_NUMBER(text.length, 0);
    /* Around the size of the buffer for short texts. */
    for (int length = 250; length <= 260; length++) {
        text_clear(&text);
        text_format(&text, "%s", "<");
        text_format(&text, "%*d", length, 7);
        snprintf(expected, sizeof(expected), "<%*d", length, 7);
        CHECK_STRING(text.data, expected);
        CHECK_NUMBER(text.length, length + 1);
    }
    text_format(&text, "%2000d", 5);
    CHECK_NUMBER(text.length, 2261);
    CHECK(!text.failed);
    text.failed = true;
    text_add(&text, "never");
    text_format(&text, "%d", 7);
    text_format(&text, "%300d", 7);
    CHECK_NUMBER(text.length, 2261);
    text_free(&text);
    CHECK(!text.data && !text.room && !text.failed);
    struct text longest = {.length = SIZE_MAX - 100};
    text_format(&longest, "%300d", 7);
    CHECK(longest.failed && !longest.data);
    CHECK_STRING(text_or_error(&text, -ENOMEM), "out of memory");
    CHECK_STRING(text_or_error(&text, -ENOENT), "No such file or directory");
}

TEST(numbers)
{
    static const struct {
        const char *string;
        uint64_t least, greatest;
        int result;
        uint64_t number;
    } cases[] = {
        {"0", 0, UINT64_MAX, 0, 0},
        {"7", 0, 7, 0, 7},
        {"007", 0, 7, 0, 7},
        {"0x1f", 0, 100, 0, 31},
        {"0XfF", 0, 255, 0, 255},
        {"18446744073709551615", 0, UINT64_MAX, 0, UINT64_MAX},
        {"0xffffffffffffffff", 0, UINT64_MAX, 0, UINT64_MAX},
        {"0x000000000000000000001", 0, UINT64_MAX, 0, 1},
        {"18446744073709551616", 0, UINT64_MAX, -ERANGE, 0},
        {"18446744073709551625", 0, UINT64_MAX, -ERANGE, 0},
        {"0x10000000000000000", 0, UINT64_MAX, -ERANGE, 0},
        {"99999999999999999999999999999999", 0, UINT64_MAX, -ERANGE, 0},
        {"8", 0, 7, -ERANGE, 0},
        {"0", 1, 7, -ERANGE, 0},
        {"", 0, 7, -EINVAL, 0},
        {"0x", 0, 7, -EINVAL, 0},
        {"-1", 0, UINT64_MAX, -EINVAL, 0},
        {"+1", 0, 7, -EINVAL, 0},
        {" 1", 0, 7, -EINVAL, 0},
        {"1 ", 0, 7, -EINVAL, 0},
        {"1\n", 0, 7, -EINVAL, 0},
        {"12x", 0, 100, -EINVAL, 0},
        {"1f", 0, 100, -EINVAL, 0},
        {"0x1g", 0, 100, -EINVAL, 0},
        {"0x0x1", 0, 100, -EINVAL, 0},
        {"1e3", 0, 10000, -EINVAL, 0},
        {"1.0", 0, 7, -EINVAL, 0},
        {"\xd9\xa1", 0, 7, -EINVAL, 0}, /* an Arabic one */
        {"99999999999999999999999999x", 0, 7, -EINVAL, 0},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t number = 4242;
        int result = parse_number(cases[i].string, cases[i].least, cases[i].greatest, &number);
        if (result != cases[i].result || number != (result ? 4242 : cases[i].number)) {
            printf("  \"%s\" gives %d, %llu\n", cases[i].string, result, (unsigned long long)number);
            WRONG("a number");
        }
    }
}

TEST(seconds)
{
    static const struct {
        const char *string;
        int result;
        uint64_t nanoseconds;
    } cases[] = {
        {"5", 0, 5000000000},
        {"0.25", 0, 250000000},
        {".5", 0, 500000000},
        {"5.", 0, 5000000000},
        {"0.000000001", 0, 1},
        {"0.123456789", 0, 123456789},
        {"0.1234567899999999999999999999999999999999999999", 0, 123456789},
        {"1.00000000000000000000000000000000000000000000001", 0, 1000000000},
        {"00001.50", 0, 1500000000},
        {"9223372035", 0, 9223372035000000000},
        {"9223372035.999999999", 0, 9223372035999999999},
        {"9223372036", -ERANGE, 0},
        {"18446744073709551616", -ERANGE, 0},
        {"18446744073709551617.5", -ERANGE, 0},
        {"99999999999999999999999999", -ERANGE, 0},
        {"0", -ERANGE, 0},
        {"0.0", -ERANGE, 0},
        {"0.0000000009", -ERANGE, 0},
        {"", -EINVAL, 0},
        {".", -EINVAL, 0},
        {"-1", -EINVAL, 0},
        {"+1", -EINVAL, 0},
        {" 1", -EINVAL, 0},
        {"1 ", -EINVAL, 0},
        {"1s", 0, 1000000000},
        {"1.5ms", 0, 1500000},
        {"250us", 0, 250000},
        {"7ns", 0, 7},
        {"2m", 0, 120000000000},
        {"0.5min", 0, 30000000000},
        {"1.000000001h", 0, 3600000003600},
        {"2562047h", 0, 9223369200000000000},
        {"2562048h", -ERANGE, 0},
        {"0.9ns", -ERANGE, 0},
        {"9223372035999ms", 0, 9223372035999000000},
        {"s", -EINVAL, 0},
        {"1S", -EINVAL, 0},
        {"1 s", -EINVAL, 0},
        {"1ss", -EINVAL, 0},
        {"1d", -EINVAL, 0},
        {"1e3", -EINVAL, 0},
        {"0x5", -EINVAL, 0},
        {"1..5", -EINVAL, 0},
        {"1.5.5", -EINVAL, 0},
        {"1,5", -EINVAL, 0},
        {"inf", -EINVAL, 0},
        {"nan", -EINVAL, 0},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t nanoseconds = 0;
        int result = parse_time(cases[i].string, 1000000000, &nanoseconds);
        if (result != cases[i].result || (!result && nanoseconds != cases[i].nanoseconds)) {
            printf("  \"%s\" gives %d, %llu\n", cases[i].string, result, (unsigned long long)nanoseconds);
            WRONG("seconds");
        }
    }
}

/* ---- Lines ---- */

static void expect_line(struct lines *lines, const char *expected, size_t expected_length)
{
    size_t length = 0;
    char *line = lines_next(lines, &length);

    if (!line || length != expected_length || memcmp(line, expected, length) || line[length]) {
        printf("  got %zu bytes, should be %zu\n", line ? length : 0, expected_length);
        WRONG("a line");
    }
}

static void expect_end(struct lines *lines)
{
    size_t length;

    CHECK(!lines_next(lines, &length));
    CHECK(!lines_next(lines, &length)); /* and it stays the end */
}

TEST(lines_of_all_kinds)
{
    static const char bytes[] = "one\n\n\0two\0\nlast";
    AUTO(lines_close) struct lines lines;
    AUTO_FD fd = file_of(bytes, sizeof(bytes) - 1);

    CHECK_NUMBER(lines_open(&lines, fd), 0);
    expect_line(&lines, "one", 3);
    expect_line(&lines, "", 0);
    expect_line(&lines, "\0two\0", 5);
    expect_line(&lines, "last", 4);
    expect_end(&lines);
    CHECK_NUMBER(lines.cut, 0);
    CHECK_NUMBER(lines.error, 0);
    lines_close(&lines);

    AUTO_FD empty = file_of("", 0);
    CHECK_NUMBER(lines_open(&lines, empty), 0);
    expect_end(&lines);
}

/* Lines of every length near the buffer's, each followed by a short one, with and without \n. */
TEST(long_lines)
{
    const size_t buffer = 65536;
    static char bytes[4 * 65536];
    AUTO(lines_close) struct lines lines;

    memset(bytes, 'x', sizeof(bytes));
    for (size_t size = buffer - 2; size <= 3 * buffer + 1;
         size += size == buffer + 2 ? 2 * buffer - 3 : 1) {
        for (int newline = 0; newline < 2; newline++) {
            bytes[size] = '\n';
            memcpy(bytes + size + 1, "next\n", 5);
            int fd = file_of(bytes, size + 5 + (size_t)newline);
            bool cut = size >= buffer;
            CHECK_NUMBER(lines_open(&lines, fd), 0);
            expect_line(&lines, bytes, cut ? buffer : size);
            expect_line(&lines, "next", 4);
            expect_end(&lines);
            CHECK_NUMBER(lines.cut, cut);
            lines_close(&lines);
            close(fd);
            memset(bytes + size, 'x', 6);
        }
    }
    /* A long one at the end. */
    AUTO_FD fd = file_of(bytes, 3 * buffer);
    CHECK_NUMBER(lines_open(&lines, fd), 0);
    expect_line(&lines, bytes, buffer);
    expect_end(&lines);
}

/* The same from a pipe, byte by byte. */
TEST(lines_in_small_pieces)
{
    static const char bytes[] = "first line\nsecond\n\nend";
    struct lines lines;
    size_t at = 0, length;
    int ends[2];

    CHECK_NUMBER(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    if (!child) {
        for (; at < sizeof(bytes) - 1; at++)
            (void)!write(ends[1], bytes + at, 1);
        _exit(0);
    }
    close(ends[1]);
    CHECK_NUMBER(lines_open(&lines, ends[0]), 0);
    expect_line(&lines, "first line", 10);
    expect_line(&lines, "second", 6);
    expect_line(&lines, "", 0);
    expect_line(&lines, "end", 3);
    expect_end(&lines);
    lines_close(&lines);
    close(ends[0]);
    CHECK_NUMBER(waitpid(child, NULL, 0), child);

    /* Random lines, compared with a plain search in what was written. */
    static char random_bytes[400000];
    srand(1);
    for (size_t i = 0; i < sizeof(random_bytes); i++)
        random_bytes[i] = (char)(rand() % 50 ? rand() % 256 : '\n');
    AUTO_FD fd = file_of(random_bytes, sizeof(random_bytes));
    CHECK_NUMBER(lines_open(&lines, fd), 0);
    for (at = 0; at < sizeof(random_bytes); at += length + 1) {
        char *newline = memchr(random_bytes + at, '\n', sizeof(random_bytes) - at);
        length = newline ? (size_t)(newline - random_bytes) - at : sizeof(random_bytes) - at;
        expect_line(&lines, random_bytes + at, length);
    }
    expect_end(&lines);
    lines_close(&lines);
}

TEST(lines_that_cannot_be_read)
{
    AUTO(lines_close) struct lines lines;
    int fd = open("/", O_RDONLY | O_CLOEXEC);

    CHECK_NUMBER(lines_open(&lines, fd), 0);
    expect_end(&lines);
    CHECK_NUMBER(lines.error, -EISDIR);
    lines_close(&lines);
    close(fd);
    CHECK_NUMBER(lines_open(&lines, -1), 0);
    expect_end(&lines);
    CHECK_NUMBER(lines.error, -EBADF);
}

TEST(whole_files)
{
    char path[64];
    AUTO_TEXT text = {0};
    static char bytes[10000];

    memset(bytes, 'b', sizeof(bytes));
    AUTO_FD fd = file_of(bytes, sizeof(bytes));
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    CHECK_NUMBER(read_file(AT_FDCWD, path, sizeof(bytes), &text), 0);
    CHECK_NUMBER(text.length, sizeof(bytes));
    CHECK(text.data && !memcmp(text.data, bytes, sizeof(bytes)));
    /* Text that is already there counts. */
    CHECK_NUMBER(read_file(AT_FDCWD, path, sizeof(bytes), &text), -EFBIG);
    text_clear(&text);
    CHECK_NUMBER(read_file(AT_FDCWD, path, sizeof(bytes) - 1, &text), -EFBIG);
    text_clear(&text);
    CHECK_NUMBER(read_file(AT_FDCWD, "/dev/zero", 100, &text), -EFBIG);
    text_clear(&text);
    CHECK_NUMBER(read_file(AT_FDCWD, "/dev/null", 0, &text), 0);
    CHECK_NUMBER(text.length, 0);
    CHECK_NUMBER(read_file(AT_FDCWD, "/nowhere/at/all", 100, &text), -ENOENT);
    CHECK_NUMBER(read_file(AT_FDCWD, "/", 100, &text), -EISDIR);
    text_free(&text);
    AUTO_FD directory = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_NUMBER(read_file(directory, "sys/kernel/ostype", 100, &text), 0);
    CHECK_STRING(text.data, "Linux\n");
}

/*
 * ---- The byte rule, implemented in a second way: by encoding all codes and looking them up ----
 */

/* The UTF-8 bytes for a code, by the table in its definition; 0: there are none. */
static size_t encode(unsigned code, unsigned char *to)
{
    if (code >= 0xd800 && code < 0xe000)
        return 0;
    if (code < 0x80) {
        to[0] = (unsigned char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (unsigned char)(0300 + code / 64);
        to[1] = (unsigned char)(0200 + code % 64);
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (unsigned char)(0340 + code / 4096);
        to[1] = (unsigned char)(0200 + code / 64 % 64);
        to[2] = (unsigned char)(0200 + code % 64);
        return 3;
    }
    to[0] = (unsigned char)(0360 + code / 262144);
    to[1] = (unsigned char)(0200 + code / 4096 % 64);
    to[2] = (unsigned char)(0200 + code / 64 % 64);
    to[3] = (unsigned char)(0200 + code % 64);
    return 4;
}

/* Every sequence of bytes for a printable code, as a set of numbers. */
static unsigned char *printable; /* of three bytes, and of four without the first, by 4 kinds */

static size_t slot_of(const unsigned char *bytes, size_t length)
{
    size_t number = 0;

    for (size_t i = length == 4; i < length; i++)
        number = number << 8 | bytes[i];
    if (length < 4)
        return (length - 1) << 24 | number;
    return (3 + (size_t)(bytes[0] & 7)) << 24 | number;
}

static void mark_printable(void)
{
    unsigned char bytes[4];

    printable = calloc(11, 1 << 24 >> 3);
    for (unsigned code = 0x20; printable && code <= 0x10ffff; code++) {
        /* Controls, and what Unicode lists as Bidi_Control, Zl and Zp. */
        if ((code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e || code == 0x200f ||
            (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069))
            continue;
        size_t length = encode(code, bytes), slot = length ? slot_of(bytes, length) : 0;
        if (length)
            printable[slot >> 3] |= (unsigned char)(1 << (slot & 7));
    }
}

static void expected_text(const unsigned char *bytes, size_t length, struct text *text)
{
    for (size_t at = 0; at < length;) {
        size_t size = 1;
        for (; size <= 4 && at + size <= length; size++) {
            size_t slot = slot_of(bytes + at, size);
            if ((size < 4 || bytes[at] >> 3 == 036) && printable[slot >> 3] >> (slot & 7) & 1)
                break;
        }
        if (size <= 4 && at + size <= length) {
            text_append(text, (const char *)bytes + at, size);
            at += size;
        } else {
            char hex[8];
            snprintf(hex, sizeof(hex), "\\x%c%c", "0123456789abcdef"[bytes[at] / 16],
                     "0123456789abcdef"[bytes[at] % 16]);
            text_append(text, hex, 4);
            at++;
        }
    }
}

static bool escapes_as_expected(const unsigned char *bytes, size_t length)
{
    static struct text ours, theirs;

    text_clear(&ours);
    text_clear(&theirs);
    escape_bytes(&ours, (const char *)bytes, length);
    expected_text(bytes, length, &theirs);
    return ours.length == theirs.length &&
           (!ours.length || !memcmp(ours.data, theirs.data, ours.length));
}

static void check_escaped(const char *bytes, size_t length, const char *expected)
{
    AUTO_TEXT text = {0};

    escape_bytes(&text, bytes, length);
    CHECK_STRING(text.data, expected);
}

TEST(escapes_by_hand)
{
#define ESCAPED(bytes, expected) check_escaped(bytes, sizeof(bytes) - 1, expected)
    ESCAPED("plain; text", "plain; text");
    ESCAPED("a\x1b[2Jb\n\r\t\0c", "a\\x1b[2Jb\\x0a\\x0d\\x09\\x00c");
    ESCAPED("\x1f \x7e\x7f", "\\x1f ~\\x7f");
    ESCAPED("back\\slash \\x41", "back\\slash \\x41");
    ESCAPED("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x94\xa5", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x94\xa5");
    ESCAPED("\xc2\x80\xc2\x9f\xc2\xa0", "\\xc2\\x80\\xc2\\x9f\xc2\xa0");
    ESCAPED("\x9b", "\\x9b");
    ESCAPED("\xc0\x80\xc1\xbf", "\\xc0\\x80\\xc1\\xbf");
    ESCAPED("\xe0\x9f\xbf\xe0\xa0\x80", "\\xe0\\x9f\\xbf\xe0\xa0\x80");
    ESCAPED("\xed\x9f\xbf\xed\xa0\x80\xed\xbf\xbf", "\xed\x9f\xbf\\xed\\xa0\\x80\\xed\\xbf\\xbf");
    ESCAPED("\xf0\x8f\xbf\xbf\xf0\x90\x80\x80", "\\xf0\\x8f\\xbf\\xbf\xf0\x90\x80\x80");
    ESCAPED("\xf4\x8f\xbf\xbf\xf4\x90\x80\x80", "\xf4\x8f\xbf\xbf\\xf4\\x90\\x80\\x80");
    ESCAPED("\xf8\x88\x80\x80\x80\xfe\xff", "\\xf8\\x88\\x80\\x80\\x80\\xfe\\xff");
    ESCAPED("\xe2\x82" "A\xf0\x9f\x94", "\\xe2\\x82A\\xf0\\x9f\\x94");
    ESCAPED("\xe2\xc3\xa4", "\\xe2\xc3\xa4");
    ESCAPED("a\xe2\x80\xaegpj.exe", "a\\xe2\\x80\\xaegpj.exe");
#undef ESCAPED
}

/* And every 61st of three bytes. */
TEST(escapes_every_byte_and_pair)
{
    unsigned char bytes[3];
    unsigned wrong = 0;

    for (unsigned number = 0; number < 1 << 24; number += number >> 16 ? 61 : 1) {
        bytes[0] = (unsigned char)number;
        bytes[1] = (unsigned char)(number >> 8);
        bytes[2] = (unsigned char)(number >> 16);
        wrong += !escapes_as_expected(bytes, 1 + (number > 0xff) + (number > 0xffff));
    }
    CHECK_NUMBER(wrong, 0);
}

TEST(escapes_every_code)
{
    unsigned char bytes[4];
    unsigned wrong = 0;

    for (unsigned code = 0; code <= 0x10ffff; code++)
        wrong += !escapes_as_expected(bytes, encode(code, bytes));
    CHECK_NUMBER(wrong, 0);
}

/* Bytes at the borders where sequences begin, continue and end. */
TEST(escapes_random_bytes)
{
    static const unsigned char edges[] = {
        0x00, 0x1f, 0x20, 0x7e, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2,
        0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf8, 0xff};
    unsigned char bytes[16];
    unsigned wrong = 0;

    for (int round = 0, most = rounds(200000); round < most; round++) {
        size_t length = (size_t)rand() % sizeof(bytes);
        for (size_t i = 0; i < length; i++)
            bytes[i] = edges[(size_t)rand() % sizeof(edges)];
        wrong += !escapes_as_expected(bytes, length);
    }
    CHECK_NUMBER(wrong, 0);
}

/* Many keys with few hashes, and few with many: exactly the added ones are found. */
TEST(items_by_hashes)
{
    static const uint64_t spreads[] = {3, 1000003, 0x100000001};

    for (size_t k = 0; k < COUNT_OF(spreads); k++) {
        AUTO(index_free) struct index index = {0};
        uint32_t found;
        size_t at = 0;

        CHECK(!index_next(&index, 7, &at, &found));
        for (uint32_t i = 0; i < 5000; i++)
            CHECK_NUMBER(index_add(&index, i % spreads[k] * 0x9e3779b97f4a7c15, i), 0);
        for (uint32_t i = 0; i < 5000; i += 7) {
            bool seen = false;
            size_t count = 0;
            for (at = 0; index_next(&index, i % spreads[k] * 0x9e3779b97f4a7c15, &at, &found); count++) {
                seen = seen || found == i;
                CHECK_NUMBER(found % spreads[k], i % spreads[k]);
            }
            CHECK(seen);
            CHECK_NUMBER(count, (5000 - i % spreads[k] + spreads[k] - 1) / spreads[k]);
        }
    }
}

/* A size alone allows no more reading than no size: a hole without data, with a little, and all. */
TEST(budgets_of_holes)
{
    struct stat about;
    int fd = file_of("", 0);

    CHECK(!fstat(fd, &about));
    const uint64_t least = reading_budget(fd, &about);
    CHECK(!ftruncate(fd, (off_t)1 << 40));
    CHECK(!fstat(fd, &about));
    CHECK_NUMBER(about.st_blocks, 0);
    CHECK_NUMBER(reading_budget(fd, &about), least);
    CHECK(pwrite(fd, "data", 4, 1 << 20) == 4 && lseek(fd, 3, SEEK_SET) == 3);
    CHECK(!fstat(fd, &about));
    CHECK_NUMBER(reading_budget(fd, &about), least + 8 * 512 * (uint64_t)about.st_blocks);
    CHECK_NUMBER(lseek(fd, 0, SEEK_CUR), 3);
    /* Data without blocks: the file system does not say. */
    about.st_blocks = 0;
    about.st_size = 1 << 20;
    CHECK_NUMBER(reading_budget(fd, &about), least + (8 << 20));
    CHECK_NUMBER(lseek(fd, 0, SEEK_CUR), 3);
    close(fd);
}

int main(void)
{
    mark_printable();
    run_tests();
    free(printable);
    return tests_done();
}
