/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * 64-bit PowerPC (ELFv2): calls from other files enter a function at its symbol, calls from its own
 * file at the local entry point, behind the TOC set-up. A probe belongs there: both pass it.
 */
#include "unit/test.h"

#include "find/user_file.h"
#include "unit/user_image.h"

#define PPC64 21 /* EM_PPC64 */

/* STO_PPC64_LOCAL of the most recent symbol. */
static void set_local(struct user_image *image, unsigned bits)
{
    image->symbols[image->symbol_length - 24 + 5] = (unsigned char)(bits << 5);
}

static void write_file(unsigned machine, bool big)
{
    static struct user_image image;

    user_image_begin(&image, true, big);
    image_put(&image.elf, 18, 2, machine);
    /* As binutils make them: two instructions, none, none with r2 not preserved, sixteen. */
    user_image_symbol(&image, "two", STT_FUNC, CODE + 0x10, 0x20);
    set_local(&image, 3);
    user_image_symbol(&image, "none", STT_FUNC, CODE + 0x30, 0x20);
    set_local(&image, 0);
    user_image_symbol(&image, "keeps_not", STT_FUNC, CODE + 0x50, 0x20);
    set_local(&image, 1);
    user_image_symbol(&image, "sixteen", STT_FUNC, CODE + 0x80, 0x60);
    set_local(&image, 6);
    user_image_finish(&image);
    CHECK(user_image_write(&image, path, image.elf.length));
}

/* Where a probe for this pattern goes; 0: nowhere. */
static uint64_t place_of(const char *typed)
{
    AUTO(user_file_close) struct user_file file = {.library.fd = open(path, O_RDONLY | O_CLOEXEC)};
    AUTO_TEXT word = {0}, error = {0};
    AUTO(places_free) struct places places = {0};
    AUTO(pattern_free) struct pattern pattern;
    size_t matched;

    text_add(&file.library.path, path);
    text_add(&file.library.file, path);
    text_format(&word, "%s:%s", path, typed);
    CHECK_NUMBER(elf_open_watched(&file.elf, file.library.fd, 0, &file.trouble), 0);
    file.elf.unpacked = &file.unpacked;
    CHECK_NUMBER(pattern_parse(&pattern, word.data, false, &error), 0);
    CHECK_NUMBER(user_functions_find(&file, &pattern, &places, &matched, &error), 0);
    const uint64_t address = places.count ? places.items[0].address : 0;
    return address;
}

TEST(where_all_calls_come_by)
{
    for (int big = 0; big < 2; big++) {
        write_file(PPC64, big);
        CHECK_NUMBER(place_of("two"), CODE + 0x18);
        CHECK_NUMBER(place_of("none"), CODE + 0x30);
        CHECK_NUMBER(place_of("keeps_not"), CODE + 0x50);
        CHECK_NUMBER(place_of("sixteen"), CODE + 0x80 + 64);
        /* As in disassemblers. */
        CHECK_NUMBER(place_of("two+0xc"), CODE + 0x1c);
    }
}

/* These bits mean something else there. */
TEST(elsewhere)
{
    write_file(EM_X86_64, false);
    CHECK_NUMBER(place_of("two"), CODE + 0x10);
    CHECK_NUMBER(place_of("sixteen"), CODE + 0x80);
}

IMAGE_TEST_MAIN
