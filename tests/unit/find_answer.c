/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The sandbox's answers about patterns: what the reader writes is what the parent gets, and the
 * parent trusts nothing in it.
 */
#include "find/user_file.h"

#include <fcntl.h>

#include "sandbox/sandbox.h"
#include "test.h"

static char *const words[] = {(char *)"vfs_read", (char *)"c:mal*", (char *)"u:/bin/a:p:x"};

static const struct place given[] = {
    {.kind = PLACE_USER, .name = (char *)"libc.so.6:malloc", .named = true, .address = 0x1234,
     .file = "/proc/1/root/usr/lib/libc.so.6", .path = "/usr/lib/libc.so.6", .file_offset = 0x234,
     .start = START_PUSH},
    {.kind = PLACE_USER, .name = (char *)"libc.so.6:mallopt", .at_return = true, .address = 0x2234,
     .file = "/proc/1/root/usr/lib/libc.so.6", .path = "/usr/lib/libc.so.6", .offset = 4},
    {.kind = PLACE_USER, .name = (char *)"a:p:x", .is_usdt = true, .address = 0x10,
     .file = "/bin/a", .path = "/bin/a", .file_offset = 0x10, .semaphore = 0x4020},
};

/* As opened before they were read: the last place's is the second one. */
static void add_file(struct find *find, const char *typed, const struct place *place, ino_t inode)
{
    struct found_file *file = &find->files[find->file_count++];

    file->typed = typed;
    file->library.fd = -1;
    file->about.st_ino = inode;
    text_add(&file->library.file, place->file);
    text_add(&file->library.path, place->path);
}

/* A place in the kernel is already there. */
static void begin(struct find *find)
{
    const struct place kernel = {.kind = PLACE_KERNEL_FUNCTION, .name = (char *)"vfs_read"};
    AUTO_TEXT error = {0};

    *find = (struct find){.tracefs = -1, .kallsyms = -1};
    CHECK_NUMBER(find_parse(find, words, COUNT_OF(words), false, &error), 0);
    CHECK_NUMBER(places_add(&find->places, &kernel), 0);
    find->files = calloc(3, sizeof(*find->files));
    add_file(find, "c", &given[0], 7);
    add_file(find, "/bin/a", &given[2], 8);
    find->matched[0] = 1;
}

static void add_places(struct find *find)
{
    for (size_t i = 0; i < COUNT_OF(given); i++)
        CHECK_NUMBER(places_add(&find->places, &given[i]), 0);
    find->matched[1] = 2;
    find->matched[2] = 1;
    text_add(&find->unread, "/bin/a: its symbols are damaged");
    text_add(&find->left_out, "left out 1 of 3 in /bin/a");
}

static void check_same(const struct find *a, const struct find *b)
{
    CHECK_NUMBER(a->places.count, b->places.count);
    for (size_t i = 0; i < a->places.count && i < b->places.count; i++) {
        const struct place *left = &a->places.items[i], *right = &b->places.items[i];
        CHECK_STRING(left->name, right->name);
        if (left->kind == PLACE_USER) {
            CHECK_STRING(left->file, right->file);
            CHECK_STRING(left->path, right->path);
        }
        CHECK(left->kind == right->kind && left->at_return == right->at_return &&
              left->named == right->named && left->address == right->address &&
              left->offset == right->offset && left->file_offset == right->file_offset &&
              left->semaphore == right->semaphore && left->is_usdt == right->is_usdt &&
              left->start == right->start && !left->error && !left->id);
    }
    for (size_t i = 0; i < a->count; i++)
        CHECK_NUMBER(a->matched[i], b->matched[i]);
    CHECK_STRING(a->unread.length ? a->unread.data : "", b->unread.length ? b->unread.data : "");
    CHECK_STRING(a->left_out.length ? a->left_out.data : "", b->left_out.length ? b->left_out.data : "");
}

/* The receiver must then be as `expected`, or unchanged. */
static int give(const char *bytes, size_t length, const struct find *expected, int *found, struct text *error)
{
    struct find find, untouched;
    char *copy = malloc(length ? length : 1); /* exactly as long, so that sanitizers see overruns */

    begin(&find);
    begin(&untouched);
    if (length)
        memcpy(copy, bytes, length);
    int result = find_answer_read(copy, length, &find, found, error);
    check_same(&find, result ? &untouched : expected);
    CHECK(!result || !error->length);
    free(copy);
    find_close(&find);
    find_close(&untouched);
    return result;
}

TEST(there_and_back)
{
    AUTO(find_close) struct find find;
    AUTO_TEXT answer = {0}, error = {0}, none = {0};
    int found = 7;

    begin(&find);
    text_add(&error, "0 functions matched");
    find_answer_write(&find, 1, -ENOENT, &error, &answer);
    CHECK_NUMBER(give(answer.data, answer.length, &find, &found, &none), 0);
    CHECK_NUMBER(found, -ENOENT);
    CHECK_STRING(none.data, "0 functions matched");
    add_places(&find);
    text_clear(&answer);
    text_clear(&error);
    text_clear(&none);
    find_answer_write(&find, 1, 0, &error, &answer);
    CHECK(!answer.failed);
    CHECK_NUMBER(give(answer.data, answer.length, &find, &found, &none), 0);
    CHECK_NUMBER(found, 0);
    for (size_t length = 0; length < answer.length; length++)
        CHECK_NUMBER(give(answer.data, length, &find, &found, &none), -EBADMSG);
    text_append(&answer, "", 1);
    CHECK_NUMBER(give(answer.data, answer.length, &find, &found, &none), -EBADMSG);
}

static void check_refused(int result, const struct place *place)
{
    AUTO(find_close) struct find find;
    AUTO_TEXT answer = {0}, error = {0};
    int found;

    begin(&find);
    add_places(&find);
    if (place)
        CHECK_NUMBER(places_add(&find.places, place), 0);
    find_answer_write(&find, 1, result, &error, &answer);
    CHECK_NUMBER(give(answer.data, answer.length, &find, &found, &error), -EBADMSG);
}

TEST(refused)
{
    struct place place = given[2];

    check_refused(1, NULL);
    check_refused(-4096, NULL);
    place.start = START_OTHER + 1;
    check_refused(0, &place);
    place = given[2];
    place.file_offset = UINT64_MAX;
    check_refused(0, &place);
    place = given[2];
    place.semaphore = (uint64_t)1 << 63;
    check_refused(0, &place);
    /* The file's name is part of the place's name: without it, removing it would run past the end. */
    static const char *const names[] = {"", "a", "a:", "b:p:x", "ab:p", ":"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        place = given[2];
        place.name = (char *)(uintptr_t)names[i];
        check_refused(0, &place);
    }
}

/* The reader refers to a file opened for it by number, and says nothing else about it. */
TEST(only_opened_files)
{
    const struct place other = {.kind = PLACE_USER, .name = (char *)"sh:main", .file = "/bin/sh", .path = "/bin/sh"};
    AUTO(find_close) struct find find;
    AUTO_TEXT answer = {0}, error = {0};
    int found;

    begin(&find);
    add_places(&find);
    find_answer_write(&find, 1, 0, &error, &answer);
    places_free(&find.places);
    CHECK_NUMBER(find_answer_read(answer.data, answer.length, &find, &found, &error), 0);
    CHECK_NUMBER(find.places.count, COUNT_OF(given));
    for (size_t i = 0; i < find.places.count; i++)
        CHECK_NUMBER(find.places.items[i].inode, i == 2 ? 8 : 7);
    /* The receiver does not know this file. */
    add_file(&find, "/bin/sh", &other, 9);
    CHECK_NUMBER(places_add(&find.places, &other), 0);
    text_clear(&answer);
    find_answer_write(&find, COUNT_OF(given), 0, &error, &answer);
    CHECK_NUMBER(give(answer.data, answer.length, &find, &found, &error), -EBADMSG);
}

/* What a compromised reader might name instead of what was typed. */
TEST(only_meant_files)
{
    static struct maps_entry entry = {.path = "/usr/lib/libc.so.6", .inode = 1};
    struct library_mapped mapped = {.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)};
    const struct library_seen seen = {.items = &mapped, .count = 1};
    static const struct {
        const char *typed, *root, *asked;
        bool is_ours;
        unsigned mapping;
        int result, found;
    } rows[] = {
        {"/proc/self/exe", "", "/proc/self/exe", false, 0, 0, 0},
        {"/proc/self/exe", "", "/bin/sh", false, 0, -EBADMSG, 0},
        {"/proc/self/exe", "", "", false, 0, -EBADMSG, 0},
        {"exe", "", "/proc/self/exe", false, 0, 0, 0},
        {"c", "", "/bin/sh", false, 0, -EBADMSG, 0},
        {"c", "", "/nowhere/libc.so.6", false, 0, 0, -ENOENT},
        {"sh", "/proc/self/root", "/bin/sh", false, 0, 0, 0},
        {"sh", "/proc/self/root", "/bin/sh", true, 0, -EBADMSG, 0}, /* not in its root, and not mapped */
        {"c", "", "", false, 1, 0, 0},
        {"c", "", "", false, 2, -EBADMSG, 0},
        {"ssl", "", "", false, 1, -EBADMSG, 0},
        {"/dev/null", "", "/dev/null", false, 0, 0, -EINVAL},
    };

    mapped.entry = entry;
    CHECK(mapped.fd >= 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct library_where where = {rows[i].root, 1, &seen};
        AUTO(find_close) struct find find = {.tracefs = -1, .kallsyms = -1};
        AUTO_TEXT word = {0}, error = {0}, answer = {0};
        int found = 0;

        text_format(&word, "%s:f", rows[i].typed);
        CHECK_NUMBER(find_parse(&find, &word.data, 1, false, &error), 0);
        answer_put_number(&answer, 0);
        answer_put_text(&answer, &error);
        answer_put_byte(&answer, rows[i].is_ours);
        answer_put_number(&answer, rows[i].mapping);
        answer_put_bytes(&answer, rows[i].asked, strlen(rows[i].asked));
        CHECK_NUMBER(find_files_take(&find, &where, &answer, &found, &error), rows[i].result);
        CHECK_NUMBER(rows[i].result ? 0 : found, rows[i].found);
        CHECK(rows[i].result || found || find.files[0].about.st_ino);
    }
    close(mapped.fd);
}

TEST_MAIN
