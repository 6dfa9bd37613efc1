/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Files that end early: truncated at each byte, where readers find nothing that is not in the whole
 * file; or shrinking while they are read. (Perf maps and ELF files: jitmap.c, elf.c.)
 */
#include "find/library.h"
#include "find/user_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/reading.h"
#include "files.h"

#define CORPUS "tests/fuzz/corpus/"

static void read_whole(const char *path, struct text *bytes)
{
    if (read_file(AT_FDCWD, path, 1 << 20, bytes) || !bytes->length)
        WRONG(path);
}

/* Names in the order in which they were found, a line each. */
struct finds {
    struct text lines;
    size_t count;
};

/* Is every line of `some` a line of `all`? */
static bool is_part_of(const struct finds *some, const struct finds *all)
{
    const char *line = some->count ? some->lines.data : "", *newline;

    for (; (newline = strchr(line, '\n')); line = newline + 1) {
        size_t length = (size_t)(newline + 1 - line);
        const char *at = all->count ? all->lines.data : "";
        while (*at && strncmp(at, line, length))
            at = strchr(at, '\n') + 1;
        if (!*at)
            return false;
    }
    return true;
}

static void finds_free(struct finds *finds)
{
    text_free(&finds->lines);
    finds->count = 0;
}

/* ---- ld.so.cache ---- */

static int note_entry(void *context, const struct link_cache_entry *entry)
{
    struct finds *finds = context;

    /* Truncated in its new table, a file with both formats still has the old one, which says no more. */
    text_format(&finds->lines, "%s %s\n", entry->name, entry->path);
    finds->count++;
    return 0;
}

/* In a copy of that size, so that reads past its end are seen. */
static int find_entries(const char *bytes, size_t length, struct finds *finds)
{
    char *copy = malloc(length + !length);

    memcpy(copy, bytes, length);
    int result = link_cache_each(copy, length, note_entry, finds);
    free(copy);
    return result;
}

static void truncate_cache(const char *path)
{
    AUTO_TEXT bytes = {0};
    AUTO(finds_free) struct finds all = {0};

    read_whole(path, &bytes);
    CHECK_NUMBER(find_entries(bytes.data, bytes.length, &all), 0);
    CHECK_NUMBER(all.count, 5);
    for (size_t length = 0; length < bytes.length; length++) {
        AUTO(finds_free) struct finds some = {0};
        int result = find_entries(bytes.data, length, &some);
        CHECK(!result || result == -ENOEXEC);
        CHECK(is_part_of(&some, &all));
        /* The last string is a path: without its NUL there is no such entry. */
        if (length == bytes.length - 1)
            CHECK_NUMBER(some.count, 4);
    }
}

TEST(truncated_caches)
{
    truncate_cache(CORPUS "link_cache/old");
    truncate_cache(CORPUS "link_cache/new");
    truncate_cache(CORPUS "link_cache/new-big");
    truncate_cache(CORPUS "link_cache/both");
}

/* ---- USDT notes ---- */

static int find_probes(int fd, struct finds *finds)
{
    struct user_file file = {.library.fd = fd, .library.path.data = (char *)"/input",
                             .library.file.data = (char *)"/input"};
    AUTO_TEXT error = {0};
    AUTO(places_free) struct places places = {0};
    AUTO(pattern_free) struct pattern pattern;
    size_t matched = 0;

    CHECK_NUMBER(pattern_parse(&pattern, "u:input:*", false, &error), 0);
    int result = elf_open(&file.elf, fd);
    if (!result) {
        result = usdt_find(&file, &pattern, &places, &matched, &error);
        CHECK(!result == !error.length);
    }
    for (size_t i = 0; i < places.count; i++) {
        const struct place *place = &places.items[i];
        text_format(&finds->lines, "%s %llx %llx %llx\n", place->name,
                    (unsigned long long)place->address, (unsigned long long)place->file_offset,
                    (unsigned long long)place->semaphore);
        finds->count++;
    }
    CHECK_NUMBER(matched, finds->count);
    elf_close(&file.elf);
    return result;
}

static void truncate_notes(const char *path)
{
    AUTO_TEXT bytes = {0};
    AUTO(finds_free) struct finds all = {0};
    size_t fewer = 0;

    read_whole(path, &bytes);
    AUTO_FD fd = file_of(bytes.data, bytes.length);
    CHECK_NUMBER(find_probes(fd, &all), 0);
    CHECK_NUMBER(all.count, 2);
    CHECK(all.count && strstr(all.lines.data, "input:provider:probe ") &&
          strstr(all.lines.data, "input:provider:second "));
    for (size_t length = bytes.length; length--;) {
        AUTO(finds_free) struct finds some = {0};
        CHECK(!ftruncate(fd, (off_t)length));
        int result = find_probes(fd, &some);
        CHECK(!result == (some.count > 0));
        CHECK(is_part_of(&some, &all));
        fewer += some.count < 2;
    }
    CHECK(fewer > 100);
}

TEST(truncated_notes)
{
    truncate_notes(CORPUS "usdt/sdt64");
    truncate_notes(CORPUS "usdt/sdt32");
    truncate_notes(CORPUS "usdt/sdt64-stripped");
}

/*
 * ---- Files that shrink, and grow again, while they are read ----
 *
 * A read during a truncation may return zeros in place of the file's bytes, even in the middle of a
 * name. Readers find no more than in the whole file; sanitizers check their accesses.
 */

struct shrinking {
    int fd;
    const struct text *bytes;
    atomic_bool stop;
};

static void *shrink_and_grow(void *context)
{
    struct shrinking *shrinking = context;
    const struct text *bytes = shrinking->bytes;
    uint64_t state = 42;

    while (!atomic_load(&shrinking->stop)) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        size_t length = (size_t)(state % bytes->length);
        if (ftruncate(shrinking->fd, (off_t)length) ||
            pwrite(shrinking->fd, bytes->data + length, bytes->length - length, (off_t)length) < 0)
            break;
    }
    return NULL;
}

TEST(shrinking_notes)
{
    AUTO_TEXT bytes = {0};
    AUTO(finds_free) struct finds all = {0};
    pthread_t thread;

    read_whole(CORPUS "usdt/sdt64", &bytes);
    struct shrinking shrinking = {.fd = file_of(bytes.data, bytes.length), .bytes = &bytes};
    CHECK_NUMBER(find_probes(shrinking.fd, &all), 0);
    CHECK(!pthread_create(&thread, NULL, shrink_and_grow, &shrinking));
    for (int i = 0; i < 2000; i++) {
        AUTO(finds_free) struct finds some = {0};
        (void)find_probes(shrinking.fd, &some);
        CHECK(some.count <= all.count);
    }
    atomic_store(&shrinking.stop, true);
    pthread_join(thread, NULL);
    close(shrinking.fd);
}

/* ld.so.cache is read whole before it is parsed. */
TEST(shrinking_cache)
{
    AUTO_TEXT bytes = {0};
    AUTO(finds_free) struct finds all = {0};
    pthread_t thread;
    char path[32];

    read_whole(CORPUS "link_cache/both", &bytes);
    struct shrinking shrinking = {.fd = file_of(bytes.data, bytes.length), .bytes = &bytes};
    CHECK_NUMBER(find_entries(bytes.data, bytes.length, &all), 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", shrinking.fd);
    CHECK(!pthread_create(&thread, NULL, shrink_and_grow, &shrinking));
    for (int i = 0; i < 2000; i++) {
        AUTO_TEXT piece = {0};
        AUTO(finds_free) struct finds some = {0};
        CHECK_NUMBER(read_file(AT_FDCWD, path, 1 << 20, &piece), 0);
        if (piece.length)
            (void)find_entries(piece.data, piece.length, &some);
        CHECK(some.count <= all.count);
    }
    atomic_store(&shrinking.stop, true);
    pthread_join(thread, NULL);
    close(shrinking.fd);
}

TEST_MAIN
