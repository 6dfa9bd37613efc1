/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Hand-made ELF files of either class and byte order, laid out by the ELF specification. */
#ifndef STACKBOX_ELF_IMAGE_H
#define STACKBOX_ELF_IMAGE_H

#include <sys/mman.h>

#include "elf/elf.h"
#include "unit/files.h"

struct image_segment {
    uint32_t type; /* 1: loaded */
    uint64_t offset, address, file_size;
};

struct image {
    bool is_64, big_endian;
    size_t length;
    unsigned char bytes[16384];
};

static inline void image_put(struct image *image, size_t at, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        image->bytes[at + i] = (unsigned char)(value >> 8 * (image->big_endian ? size - 1 - i : i));
}

/* Offsets of the fields in the file's header. */
static inline size_t image_phoff(const struct image *image)
{
    return image->is_64 ? 32 : 28;
}

static inline size_t image_phentsize(const struct image *image)
{
    return image->is_64 ? 54 : 42;
}

static inline size_t image_phnum(const struct image *image)
{
    return image->is_64 ? 56 : 44;
}

static inline void image_put_segment(struct image *image, size_t at, const struct image_segment *segment)
{
    image_put(image, at, 4, segment->type);
    image_put(image, at + (image->is_64 ? 4 : 24), 4, 5); /* may be read and executed */
    if (image->is_64) {
        image_put(image, at + 8, 8, segment->offset);
        image_put(image, at + 16, 8, segment->address);
        image_put(image, at + 32, 8, segment->file_size);
        image_put(image, at + 40, 8, segment->file_size);
    } else {
        image_put(image, at + 4, 4, segment->offset);
        image_put(image, at + 8, 4, segment->address);
        image_put(image, at + 16, 4, segment->file_size);
        image_put(image, at + 20, 4, segment->file_size);
    }
}

/* Offsets of the header's fields about sections. */
static inline size_t image_shoff(const struct image *image)
{
    return image->is_64 ? 40 : 32;
}

static inline size_t image_shnum(const struct image *image)
{
    return image->is_64 ? 60 : 48;
}

static inline size_t image_shstrndx(const struct image *image)
{
    return image->is_64 ? 62 : 50;
}

struct image_section {
    uint32_t name, type;
    uint64_t flags, address, offset, size;
    uint32_t link, info;
    uint64_t entry_size;
};

static inline size_t image_section_size(const struct image *image)
{
    return image->is_64 ? 64 : 40;
}

static inline void image_put_section(struct image *image, size_t at, const struct image_section *section)
{
    const size_t word = image->is_64 ? 8 : 4;

    image_put(image, at, 4, section->name);
    image_put(image, at + 4, 4, section->type);
    image_put(image, at + 8, word, section->flags);
    image_put(image, at + 8 + word, word, section->address);
    image_put(image, at + 8 + 2 * word, word, section->offset);
    image_put(image, at + 8 + 3 * word, word, section->size);
    image_put(image, at + 8 + 4 * word, 4, section->link);
    image_put(image, at + 12 + 4 * word, 4, section->info);
    image_put(image, at + 16 + 5 * word, word, section->entry_size);
}

/* Makes the header refer to `count` sections at `table`, the last of which has their names. */
static inline void image_put_sections(struct image *image, size_t table,
                                      const struct image_section *sections, size_t count)
{
    image_put(image, image_shoff(image), image->is_64 ? 8 : 4, table);
    image_put(image, image_shnum(image) - 2, 2, image_section_size(image));
    image_put(image, image_shnum(image), 2, count);
    image_put(image, image_shstrndx(image), 2, count - 1);
    for (size_t i = 0; i < count; i++)
        image_put_section(image, table + i * image_section_size(image), &sections[i]);
}

static inline size_t image_symbol_size(const struct image *image)
{
    return image->is_64 ? 24 : 16;
}

static inline void image_put_symbol(struct image *image, size_t at, uint32_t name,
                                    uint64_t value, uint64_t size, uint8_t info, uint16_t section)
{
    image_put(image, at, 4, name);
    if (image->is_64) {
        image_put(image, at + 4, 1, info);
        image_put(image, at + 6, 2, section);
        image_put(image, at + 8, 8, value);
        image_put(image, at + 16, 8, size);
    } else {
        image_put(image, at + 4, 4, value);
        image_put(image, at + 8, 4, size);
        image_put(image, at + 12, 1, info);
        image_put(image, at + 14, 2, section);
    }
}

/* A file of `length` bytes whose program headers are at `table`, `entry_size` bytes apart. */
static inline void image_make(struct image *image, bool is_64, bool big_endian, size_t table,
                              size_t entry_size, const struct image_segment *segments,
                              size_t count, size_t length)
{
    static const unsigned char magic[] = {0x7f, 'E', 'L', 'F'};

    *image = (struct image){.is_64 = is_64, .big_endian = big_endian, .length = length};
    memcpy(image->bytes, magic, sizeof(magic));
    image->bytes[4] = is_64 ? 2 : 1;
    image->bytes[5] = big_endian ? 2 : 1;
    image->bytes[6] = 1;
    image_put(image, 16, 2, 3); /* a shared object */
    image_put(image, image_phoff(image), is_64 ? 8 : 4, table);
    image_put(image, image_phentsize(image), 2, entry_size);
    image_put(image, image_phnum(image), 2, count);
    for (size_t i = 0; i < count; i++)
        image_put_segment(image, table + i * entry_size, &segments[i]);
}

/* An open file of the image's first `length` bytes; the caller closes it. */
static inline int image_file(const struct image *image, size_t length)
{
    return file_of(image->bytes, length);
}

/* An image that is opened, and closed where the scope of its variable ends. */
static inline struct elf open_image(const struct image *image)
{
    struct elf elf = {.fd = -1};

    CHECK_NUMBER(elf_open(&elf, image_file(image, image->length)), 0);
    return elf;
}

static inline void close_image(struct elf *elf)
{
    const int fd = elf->fd;

    elf_close(elf);
    if (fd >= 0)
        close(fd);
}

#define AUTO_ELF AUTO(close_image) struct elf

#endif
