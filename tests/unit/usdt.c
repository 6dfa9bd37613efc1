/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* USDT notes of either class and byte order: sites, semaphores, moved files, hostile notes. */
#include "unit/test.h"

#include "find/user_file.h"
#include "unit/user_image.h"

static struct text error;

#define NOTE(image, text, ...)                                                                 \
    user_image_note(image, "stapsdt", 3, (const uint64_t[3]){__VA_ARGS__}, text, sizeof(text))

/* What find() has found last. */
static struct found {
    struct places places;
    size_t matched;
} found;

/* Resolves u:PATH:`rest`. */
static int find(const struct user_image *image, const char *rest)
{
    static const struct library_where ours = {.root = ""};
    AUTO_TEXT word = {0};
    AUTO(pattern_free) struct pattern pattern;
    struct user_file file;

    places_free(&found.places);
    found = (struct found){0};
    text_clear(&error);
    CHECK(user_image_write(image, path, image->elf.length));
    text_format(&word, "u:%s:%s", path, rest);
    CHECK_NUMBER(pattern_parse(&pattern, word.data, false, &error), 0);
    int result = user_file_open(&file, &ours, pattern.library, &error);
    if (!result) {
        result = usdt_find(&file, &pattern, &found.places, &found.matched, &error);
        user_file_close(&file);
    }
    places_remove_doubles(&found.places);
    return result;
}

/* Two sites of one probe, one with a semaphore, with other notes between them. */
static void make_probes(struct user_image *image, bool is_64, bool big)
{
    user_image_begin(image, is_64, big);
    NOTE(image, "prov\0one\0-4@%edi", CODE + 0x10, 0x404000, 0);
    NOTE(image, "prov\0two\0", CODE + 0x20, 0x404000, DATA + 0x10);
    user_image_note(image, "GNU", 3, (const uint64_t[3]){CODE + 1, 0, 0}, "prov\0one", 9);
    user_image_note(image, "stapsdt", 4, (const uint64_t[3]){CODE + 2, 0, 0}, "prov\0one", 9);
    NOTE(image, "prov\0one\0", CODE + 0x30, 0x404000, 0);
    NOTE(image, "other\0one\0", CODE + 0x40, 0x404000, 0);
    user_image_symbol(image, "f", STT_FUNC, CODE + 0x20, 0x20);
    user_image_finish(image);
}

static void check_place(size_t i, const char *name, uint64_t address,
                        uint64_t semaphore, enum place_start start)
{
    if (i >= found.places.count) {
        WRONG("too few places");
        return;
    }
    const struct place *place = &found.places.items[i];
    AUTO_TEXT full = {0};
    text_format(&full, "%s:%s", strrchr(path, '/') + 1, name);
    CHECK_STRING(place->name, full.data);
    CHECK_STRING(place->file, path);
    CHECK_NUMBER(place->address, address);
    CHECK_NUMBER(place->file_offset, address - CODE + CODE_OFFSET);
    CHECK_NUMBER(place->semaphore, semaphore);
    CHECK_NUMBER(place->start, start);
    CHECK(place->is_usdt && !place->at_return && place->kind == PLACE_USER);
}

TEST(sites)
{
    static struct user_image image;

    for (int form = 0; form < 4; form++) {
        make_probes(&image, form & 1, form & 2);
        CHECK_NUMBER(find(&image, "*"), 0);
        CHECK_NUMBER(found.places.count, 4);
        check_place(0, "prov:one", CODE + 0x10, 0, START_NONE);
        check_place(1, "prov:two", CODE + 0x20, DATA_OFFSET + 0x10, START_OTHER);
        check_place(2, "prov:one", CODE + 0x30, 0, START_NONE);
        check_place(3, "other:one", CODE + 0x40, 0, START_NONE);
        CHECK_NUMBER(find(&image, "one"), 0);
        CHECK_NUMBER(found.places.count, 3);
        CHECK_NUMBER(found.matched, 3);
        CHECK_NUMBER(find(&image, "prov:one"), 0);
        CHECK_NUMBER(found.places.count, 2);
        CHECK_NUMBER(find(&image, "oth*:*"), 0);
        CHECK_NUMBER(found.places.count, 1);
    }
}

/* As prelink did: everything moved except the notes, which have the old address of their base. */
TEST(moved_files)
{
    static struct user_image image;

    for (int form = 0; form < 4; form++) {
        user_image_begin(&image, form & 1, false);
        uint64_t back = form & 2 ? 0x10000 : -(uint64_t)0x10000;
        NOTE(&image, "p\0a\0", CODE + 0x10 - back, image.base - back, 0);
        NOTE(&image, "p\0b\0", CODE + 0x20 - back, image.base - back, DATA + 8 - back);
        user_image_finish(&image);
        CHECK_NUMBER(find(&image, "*"), 0);
        check_place(0, "p:a", CODE + 0x10, 0, START_NONE);
        check_place(1, "p:b", CODE + 0x20, DATA_OFFSET + 8, START_NONE);
    }
    /* Without .stapsdt.base, nothing shows that the file moved. */
    user_image_begin(&image, true, false);
    image.has_no_base = true;
    NOTE(&image, "p\0a\0", CODE + 0x10, 0x1234, 0);
    user_image_finish(&image);
    CHECK_NUMBER(find(&image, "*"), 0);
    check_place(0, "p:a", CODE + 0x10, 0, START_NONE);
}

static void check_none(const struct user_image *image, const char *rest, const char *reason)
{
    CHECK_NUMBER(find(image, rest), -ENOENT);
    if (!error.data || !strstr(error.data, reason))
        printf("  \"%s\" instead of \"%s\"\n", error.data, reason);
    CHECK(error.data && strstr(error.data, reason));
}

TEST(none)
{
    static struct user_image image;

    make_probes(&image, true, false);
    check_none(&image, "onne", "onne\"; near: one");
    check_none(&image, "prov:onne", "near: prov:one");
    check_none(&image, "x*", "0 USDT probes matched by \"u:/");
    user_image_begin(&image, true, false);
    user_image_finish(&image);
    check_none(&image, "*", " has none");
    NOTE(&image, "p\0a\0", CODE + CODE_SIZE, 0, 0);
    NOTE(&image, "p\0b\0", DATA, 0, 0);
    NOTE(&image, "p\0c\0", CODE, 0, DATA + DATA_SIZE);
    NOTE(&image, "p\0d\0", UINT64_MAX, 0, 0);
    user_image_finish(&image);
    check_none(&image, "*", "outside of what");
}

TEST(hostile_notes)
{
    static struct user_image image;

    user_image_begin(&image, true, false);
    NOTE(&image, "p\0a\0", CODE, 0, 0);
    /* Strings that are missing, empty, or do not end. */
    user_image_note(&image, "stapsdt", 3, (const uint64_t[3]){CODE, 0, 0}, "", 0);
    user_image_note(&image, "stapsdt", 3, (const uint64_t[3]){CODE, 0, 0}, "pppp", 4);
    user_image_note(&image, "stapsdt", 3, (const uint64_t[3]){CODE, 0, 0}, "ppp", 4);
    user_image_note(&image, "stapsdt", 3, (const uint64_t[3]){CODE, 0, 0}, "p\0aa", 4);
    user_image_note(&image, "stapsdt", 3, (const uint64_t[3]){CODE, 0, 0}, "\0aa", 4);
    user_image_note(&image, "stapsdt", 3, (const uint64_t[3]){CODE, 0, 0}, "p\0\0", 4);
    user_image_finish(&image);
    CHECK_NUMBER(find(&image, "*"), 0);
    CHECK_NUMBER(found.places.count, 1);

    /* Each truncation, and noise in the notes, in the sections and in the header. */
    make_probes(&image, true, false);
    for (size_t length = 0; length < image.elf.length; length += length < 0x180 ? 1 : 61) {
        struct user_image cut = image;
        cut.elf.length = length;
        (void)find(&cut, "*");
    }
    srand(4);
    for (int round = 0; round < 3000; round++) {
        static const struct { size_t start, length; } parts[] = {
            {0, 0x100}, {0x1800, 0x60}, {0x2800, 0x180}, {0x3780, 0x280}};
        struct user_image bad = image;
        for (int i = rand() % 6; i >= 0; i--) {
            int part = rand() % 4;
            bad.elf.bytes[parts[part].start + (size_t)rand() % parts[part].length] =
                (unsigned char)(rand() % 3 ? rand() : 0xff);
        }
        int result = find(&bad, round % 2 ? "*" : "one");
        CHECK(!result || error.length);
    }
}

IMAGE_TEST_MAIN
