/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * 32-bit ARM: stackbox probes only code that is certainly in ARM mode, even if a pattern asks for
 * Thumb code. The files are made here, so that every machine tests this.
 */
#include "unit/test.h"

#include "elf/elf_symbols.h"
#include "find/user_file.h"
#include "unit/user_image.h"

static struct text error, left_out;

/* Numbers of the ELF format: EM_ARM and EM_386. */
#define ARM 40
#define OTHER 3

/* Bit 0 of a function's address says Thumb; `marks` adds mapping symbols, which cover the rest. */
static void write_file(unsigned machine, bool big, bool marks, bool is_stripped)
{
    static struct user_image image;
    const uint64_t sites[][3] = {{CODE + 0x14, 0x404000, 0}, {CODE + 0x26, 0x404000, 0},
                                 {CODE + 0x28, 0x404000, 0}};

    user_image_begin(&image, false, big);
    image_put(&image.elf, 18, 2, machine);
    user_image_symbol(&image, "arm", STT_FUNC, CODE + 0x10, 0x10);
    user_image_symbol(&image, "thumb", STT_FUNC, CODE + 0x21, 0x10);
    user_image_symbol(&image, "thumb_too", STT_FUNC, CODE + 0x33, 0xc);
    user_image_symbol(&image, "arm_too", STT_FUNC, CODE + 0x40, 0);
    user_image_symbol(&image, "label", STT_NOTYPE, CODE + 0x60, 0);
    user_image_symbol(&image, "label_thumb", STT_NOTYPE, CODE + 0x70, 0);
    user_image_symbol(&image, "table", STT_NOTYPE, CODE + 0x80, 0);
    user_image_symbol(&image, "chooser", STT_GNU_IFUNC, CODE + 0x91, 8);
    /* What a malformed file has: an even address, and Thumb by its mapping symbol. */
    user_image_symbol(&image, "even", STT_FUNC, CODE + 0xa0, 8);
    user_image_symbol(&image, "two", STT_FUNC, CODE + 0xc0, 8);
    user_image_symbol(&image, "two", STT_FUNC, CODE + 0xd1, 8);
    if (marks) {
        user_image_symbol(&image, "$t", STT_NOTYPE, CODE + 0x70, 0);
        user_image_symbol(&image, "$d.12", STT_NOTYPE, CODE + 0x80, 0);
        user_image_symbol(&image, "$t.1", STT_NOTYPE, CODE + 0x90, 0);
        user_image_symbol(&image, "$a", STT_NOTYPE, CODE + 0xc0, 0);
        user_image_symbol(&image, "$t", STT_NOTYPE, CODE + 0xd0, 0);
        user_image_symbol(&image, "$a", STT_NOTYPE, CODE + 0x10, 0);
        user_image_symbol(&image, "$t", STT_NOTYPE, CODE + 0x20, 0);
        user_image_symbol(&image, "$a", STT_NOTYPE, CODE + 0x40, 0);
    }
    user_image_note(&image, "stapsdt", 3, sites[0], "app\0arm\0", 9);
    user_image_note(&image, "stapsdt", 3, sites[1], "app\0two\0", 9);
    user_image_note(&image, "stapsdt", 3, sites[2], "app\0four\0", 10);
    image.is_stripped = is_stripped;
    user_image_finish(&image);
    CHECK(user_image_write(&image, path, image.elf.length));
}

/* Like user_file_open() for files of this machine. */
static void open_file(struct user_file *file)
{
    *file = (struct user_file){.library.fd = open(path, O_RDONLY | O_CLOEXEC)};
    text_add(&file->library.path, path);
    text_add(&file->library.file, path);
    CHECK_NUMBER(elf_open_watched(&file->elf, file->library.fd, 0, &file->trouble), 0);
    file->elf.unpacked = &file->unpacked;
}

/* The places that `rest` matches, in the file's order; or -errno. */
static int look(const char *kind, const char *rest, struct text *seen)
{
    AUTO(places_free) struct places places = {0};
    AUTO_TEXT word = {0};
    AUTO(pattern_free) struct pattern pattern;
    AUTO(user_file_close) struct user_file file;
    size_t matched;

    text_clear(&error);
    text_clear(&left_out);
    text_clear(seen);
    text_format(&word, "%s%s:%s", kind, path, rest);
    CHECK_NUMBER(pattern_parse(&pattern, word.data, false, &error), 0);
    open_file(&file);
    int result = pattern.kind == PATTERN_USDT
        ? usdt_find(&file, &pattern, &places, &matched, &error)
        : user_functions_find(&file, &pattern, &places, &matched, &error);
    if (!result)
        result = thumb_remove(&file, &pattern, &places, 0, &left_out, &error);
    places_remove_doubles(&places);
    for (size_t i = 0; i < places.count; i++)
        text_format(seen, "%s%llx", i ? " " : "", (unsigned long long)(places.items[i].address - CODE));
    return result;
}

static void check_probed(const char *kind, const char *rest, const char *expected, const char *left)
{
    AUTO_TEXT seen = {0};

    CHECK_NUMBER(look(kind, rest, &seen), 0);
    CHECK_STRING(seen.data, expected);
    CHECK_STRING(left_out.length ? left_out.data : "", left);
}

static void check_refused(const char *kind, const char *rest, const char *reason)
{
    AUTO_TEXT seen = {0};

    CHECK_NUMBER(look(kind, rest, &seen), -ENOTSUP);
    CHECK(error.data && strstr(error.data, reason) && !strchr(error.data, '\n'));
    CHECK(!seen.length && !left_out.length);
}

static const char *left(const char *counts)
{
    static char sentence[256];

    snprintf(sentence, sizeof(sentence), "left out %s in %s, which are or may be Thumb code: the kernel can "
             "only probe ARM code, and would break the program", counts, path);
    return sentence;
}

/* Checks that hold with and without mapping symbols. */
static void check_functions(void)
{
    check_probed("", "arm", "10", "");
    check_probed("r:", "arm", "10", "");
    check_probed("", "arm+4", "14", "");
    check_probed("", "0x401014", "14", "");
    check_probed("", "arm_too", "40", "");
    check_probed("u:", "arm", "14", "");
    check_refused("", "arm+2", "is Thumb code");
    check_refused("", "thumb", "is Thumb code");
    check_refused("r:", "thumb", "is Thumb code");
    check_refused("", "thumb+4", "is Thumb code");
    check_refused("", "thumb_*", "is Thumb code");
    check_refused("", "0x401024", "is Thumb code");
    check_refused("", "0x401021", "is Thumb code");
    check_refused("u:", "two", "is Thumb code");
    check_refused("u:", "four", "is Thumb code");
    check_probed("u:", "app:*", "14", left("2 of 3"));
    check_probed("", "two", "c0", left("1 of 2"));
}

TEST(by_functions)
{
    for (int big = 0; big < 2; big++) {
        write_file(ARM, big, false, false);
        check_functions();
        /* "thumb" and "thumb_too"; * does not match labels. */
        check_probed("", "*", "10 40 a0 c0", left("3 of 7"));
        check_refused("", "label", "may be Thumb code");
        check_refused("", "0x401054", "may be Thumb code");
    }
}

TEST(by_marks)
{
    for (int big = 0; big < 2; big++) {
        write_file(ARM, big, true, false);
        check_functions();
        check_probed("", "*", "10 40 c0", left("4 of 7"));
        check_probed("", "label", "60", "");
        check_probed("", "0x401054", "54", "");
        check_refused("", "label_thumb", "is Thumb code");
        check_refused("", "even", "is Thumb code");
        check_refused("", "table", "is data");
        check_refused("", "0x401084", "is data");
    }
}

/* The address may be anything. */
TEST(by_nothing)
{
    write_file(ARM, false, true, true);
    check_refused("", "0x401010", "has no symbol that tells");
    check_refused("u:", "arm", "has no symbol that tells");
}

/* Other symbols with such names and odd addresses. */
TEST(elsewhere)
{
    write_file(OTHER, false, true, false);
    check_probed("", "thumb", "21", "");
    check_probed("", "0x401084", "84", "");
    check_probed("u:", "app:*", "14 26 28", "");
}

/*
 * One call with all addresses agrees with a call for each: the nearest mapping symbol before it, in
 * its own section.
 */
TEST(all_addresses)
{
    uint64_t addresses[CODE_SIZE / 4 + 8];
    enum arm_code codes[COUNT_OF(addresses)], alone;
    size_t count = 0;
    AUTO(user_file_close) struct user_file file;

    write_file(ARM, false, true, false);
    open_file(&file);
    for (uint64_t at = CODE; at < CODE + CODE_SIZE + 32; at += 4)
        addresses[count++] = at;
    CHECK_NUMBER(elf_arm_codes(&file.elf, addresses, count, codes), 0);
    for (size_t i = 0; i < count; i++) {
        const uint64_t at = addresses[i] - CODE;
        const enum arm_code expected = at < 0x10                 ? ARM_CODE_UNKNOWN
                                       : at < 0x20               ? ARM_CODE_ARM
                                       : at < 0x40               ? ARM_CODE_THUMB
                                       : at < 0x70               ? ARM_CODE_ARM
                                       : at < 0x80               ? ARM_CODE_THUMB
                                       : at < 0x90               ? ARM_CODE_DATA
                                       : at < 0xc0 || at >= 0xd0 ? ARM_CODE_THUMB
                                                                 : ARM_CODE_ARM;
        CHECK_NUMBER(codes[i], at < CODE_SIZE ? expected : ARM_CODE_UNKNOWN);
        CHECK_NUMBER(elf_arm_codes(&file.elf, &addresses[i], 1, &alone), 0);
        CHECK_NUMBER(alone, codes[i]);
    }
}

IMAGE_TEST_MAIN
