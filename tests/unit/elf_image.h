/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* ELF files of either class and byte order, made by hand from the tables of the format. */
#ifndef STACKBOX_ELF_IMAGE_H
#define STACKBOX_ELF_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
        image->bytes[at + i] =
            (unsigned char)(value >> 8 * (image->big_endian ? size - 1 - i : i));
}

/* Where the fields of the file's header are. */
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

static inline void image_put_segment(struct image *image, size_t at,
                                     const struct image_segment *segment)
{
    image_put(image, at, 4, segment->type);
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

/* A file of `length` bytes whose program headers stand at `table`, `entry_size` bytes apart. */
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
    int fd = memfd_create("image", MFD_CLOEXEC);

    if (fd >= 0 && pwrite(fd, image->bytes, length, 0) != (ssize_t)length) {
        close(fd);
        return -1;
    }
    return fd;
}

#endif
