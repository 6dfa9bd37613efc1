/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Hand-made programs, with code, data, functions and USDT notes. Offsets and addresses differ: code
 * at offset 0x1000 is at address 0x401000, data at 0x1400 at 0x603400.
 */
#ifndef STACKBOX_USER_IMAGE_H
#define STACKBOX_USER_IMAGE_H

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine/machine.h"
#include "unit/elf_image.h"

#define CODE 0x401000
#define CODE_OFFSET 0x1000
#define CODE_SIZE 0x400
#define DATA 0x603400
#define DATA_OFFSET 0x1400
#define DATA_SIZE 0x200
#define SECTION_COUNT 7

enum { IMAGE_CODE = 1, IMAGE_SYMBOLS, IMAGE_STRINGS, IMAGE_NOTES, IMAGE_BASE, IMAGE_NAMES };

struct user_image {
    struct image elf;
    char strings[1024];
    size_t string_length;
    unsigned char symbols[2048], notes[4096];
    size_t symbol_length, note_length;
    uint64_t base; /* the address of .stapsdt.base */
    bool is_stripped, has_no_base;
};

static inline uint16_t user_image_machine(void)
{
    for (uint16_t machine = 300; machine; machine--)
        if (machine_is_ours(machine))
            return machine; /* the 64-bit one has the larger number */
    return 0;
}

static inline void user_image_begin(struct user_image *image, bool is_64, bool big)
{
    static const struct image_segment segments[] = {
        {1, CODE_OFFSET, CODE, CODE_SIZE}, {1, DATA_OFFSET, DATA, DATA_SIZE}};

    *image = (struct user_image){.base = 0x404000, .string_length = 1};
    image_make(&image->elf, is_64, big, 64, is_64 ? 56 : 32, segments, 2, 16384);
    for (unsigned i = 0; i < 2; i++)
        image_put(&image->elf, (is_64 ? 64u + 56 * i + 4 : 64u + 32 * i + 24), 4,
                  i ? PF_R | PF_W : PF_R | PF_X);
    image_put(&image->elf, 18, 2, user_image_machine());
    image_put(&image->elf, 20, 4, 1);
    image->symbol_length = is_64 ? 24 : 16; /* the first is empty */
}

/* Puts a number into a part of the image that has no offset yet. */
static inline void user_image_number(struct user_image *image, unsigned char *at, size_t size, uint64_t value)
{
    struct image one = {.big_endian = image->elf.big_endian};

    image_put(&one, 0, size, value);
    memcpy(at, one.bytes, size);
}

static inline void user_image_symbol(struct user_image *image, const char *name, int type,
                                     uint64_t address, uint64_t size)
{
    unsigned char *at = image->symbols + image->symbol_length;
    bool is_64 = image->elf.is_64;

    user_image_number(image, at, 4, image->string_length);
    memcpy(image->strings + image->string_length, name, strlen(name) + 1);
    image->string_length += strlen(name) + 1;
    at[is_64 ? 4 : 12] = (unsigned char)(STB_GLOBAL << 4 | type);
    user_image_number(image, at + (is_64 ? 6 : 14), 2, IMAGE_CODE);
    user_image_number(image, at + (is_64 ? 8 : 4), is_64 ? 8 : 4, address);
    user_image_number(image, at + (is_64 ? 16 : 8), is_64 ? 8 : 4, size);
    image->symbol_length += is_64 ? 24 : 16;
}

/* A raw note: `text` is what follows the three words, including zeros. */
static inline void user_image_note(struct user_image *image, const char *owner, uint32_t type,
                                   const uint64_t words[3], const char *text, size_t length)
{
    unsigned char *at = image->notes + image->note_length;
    size_t word = image->elf.is_64 ? 8 : 4, owner_size = strlen(owner) + 1;

    user_image_number(image, at, 4, owner_size);
    user_image_number(image, at + 4, 4, 3 * word + length);
    user_image_number(image, at + 8, 4, type);
    memcpy(at + 12, owner, owner_size);
    at += 12 + ((owner_size + 3) & ~(size_t)3);
    for (int i = 0; i < 3; i++)
        user_image_number(image, at + i * word, word, words[i]);
    memcpy(at + 3 * word, text, length);
    at += (3 * word + length + 3) & ~(size_t)3;
    image->note_length = (size_t)(at - image->notes);
}

static inline void user_image_section(struct user_image *image, unsigned index, uint32_t name,
                                      uint32_t type, uint64_t address, uint64_t offset,
                                      uint64_t size)
{
    struct image *elf = &image->elf;
    bool is_64 = elf->is_64;
    size_t at = 0x3800 + index * (is_64 ? 64u : 40u), word = is_64 ? 8 : 4;

    image_put(elf, at, 4, name);
    image_put(elf, at + 4, 4, type);
    image_put(elf, at + 8, word, index == IMAGE_CODE ? SHF_ALLOC | SHF_EXECINSTR : 0);
    image_put(elf, at + 8 + word, word, address);
    image_put(elf, at + 8 + 2 * word, word, offset);
    image_put(elf, at + 8 + 3 * word, word, size);
    image_put(elf, at + 8 + 4 * word, 4, index == IMAGE_SYMBOLS ? IMAGE_STRINGS : 0);
    image_put(elf, at + 16 + 4 * word, word, 4);
    image_put(elf, at + 16 + 5 * word, word, index == IMAGE_SYMBOLS ? (is_64 ? 24 : 16) : 0);
}

/* Puts everything in its place: symbols 0x1800, their names 0x2400, notes 0x2800, sections 0x3800. */
static inline void user_image_finish(struct user_image *image)
{
    static const char names[] = "\0.text\0.symtab\0.strtab\0.note.stapsdt\0.stapsdt.base\0.names";
    struct image *elf = &image->elf;

    memcpy(elf->bytes + 0x1800, image->symbols, image->symbol_length);
    memcpy(elf->bytes + 0x2400, image->strings, image->string_length);
    memcpy(elf->bytes + 0x2800, image->notes, image->note_length);
    memcpy(elf->bytes + 0x3780, names, sizeof(names));
    user_image_section(image, IMAGE_CODE, 1, SHT_PROGBITS, CODE, CODE_OFFSET, CODE_SIZE);
    user_image_section(image, IMAGE_SYMBOLS, 7, image->is_stripped ? SHT_PROGBITS : SHT_SYMTAB, 0,
                       0x1800, image->symbol_length);
    user_image_section(image, IMAGE_STRINGS, 15, SHT_STRTAB, 0, 0x2400, image->string_length);
    user_image_section(image, IMAGE_NOTES, 23, SHT_NOTE, 0, 0x2800, image->note_length);
    user_image_section(image, IMAGE_BASE, image->has_no_base ? 1 : 37, SHT_PROGBITS, image->base, 0x1400, 1);
    user_image_section(image, IMAGE_NAMES, 51, SHT_STRTAB, 0, 0x3780, sizeof(names));
    image_put(elf, elf->is_64 ? 40 : 32, elf->is_64 ? 8 : 4, 0x3800);
    image_put(elf, elf->is_64 ? 58 : 46, 2, elf->is_64 ? 64 : 40);
    image_put(elf, elf->is_64 ? 60 : 48, 2, SECTION_COUNT);
    image_put(elf, elf->is_64 ? 62 : 50, 2, IMAGE_NAMES);
}

/* Writes a file of `length` bytes at that path; a new one, since overwriting waits for the disk. */
static inline bool user_image_write(const struct user_image *image, const char *to, size_t length)
{
    unlink(to);
    int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
    bool written = fd >= 0 && write(fd, image->elf.bytes, length) == (ssize_t)length;

    if (fd >= 0)
        close(fd);
    return written;
}

/* Where a unit's images are. */
static char path[] = "/tmp/stackbox-image.XXXXXX";

/* For TEST_MAIN, if tests write images. */
#define IMAGE_TEST_MAIN                                                                        \
    int main(void)                                                                             \
    {                                                                                          \
        const int fd = mkstemp(path);                                                          \
        if (fd < 0)                                                                            \
            return 1;                                                                          \
        close(fd);                                                                             \
        run_tests();                                                                           \
        unlink(path);                                                                          \
        return tests_done();                                                                   \
    }

#endif
