/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Makes .xz files by hand, and corrects the checksums of damaged ones, independently of the reader. */
#ifndef STACKBOX_XZ_IMAGE_H
#define STACKBOX_XZ_IMAGE_H

#include <stdint.h>
#include <string.h>

#define XZ_NO_SIZE UINT64_MAX

struct xz_image {
    unsigned char bytes[1 << 18];
    size_t size, start; /* of this stream */
    unsigned char check, records[1 << 16];
    size_t records_size, blocks;
};

/* What is packed, and its description. */
struct xz_block {
    const void *raw; /* chunks of LZMA2, with their end */
    size_t raw_size;
    uint64_t unpacked;                /* what the index says */
    uint64_t said_packed, said_unpacked; /* in the header; or XZ_NO_SIZE */
    unsigned char dictionary;
    const void *check;                /* as many bytes as it has */
};

static inline uint32_t xz_crc32(const unsigned char *bytes, size_t size)
{
    uint32_t crc = ~0u;

    while (size--) {
        crc ^= *bytes++;
        for (int i = 0; i < 8; i++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
    }
    return ~crc;
}

static inline uint64_t xz_crc64(const unsigned char *bytes, size_t size)
{
    uint64_t crc = ~0ull;

    while (size--) {
        crc ^= *bytes++;
        for (int i = 0; i < 8; i++)
            crc = crc & 1 ? crc >> 1 ^ 0xc96c5795d7870f42 : crc >> 1;
    }
    return ~crc;
}

static inline void xz_put_low(unsigned char *to, uint64_t number, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (unsigned char)(number >> 8 * i);
}

static inline size_t xz_put_number(unsigned char *to, uint64_t number)
{
    size_t size = 0;

    for (; number > 0x7f; number >>= 7)
        to[size++] = (unsigned char)(number | 0x80);
    to[size++] = (unsigned char)number;
    return size;
}

static inline size_t xz_check_size(unsigned char check)
{
    static const unsigned char sizes[16] = {0,  4,  4,  4,  8,  8,  8,  16,
                                            16, 16, 32, 32, 32, 64, 64, 64};

    return sizes[check & 15];
}

static inline void xz_add(struct xz_image *image, const void *bytes, size_t size)
{
    memcpy(image->bytes + image->size, bytes, size);
    image->size += size;
}

static inline void xz_begin(struct xz_image *image, unsigned char check)
{
    unsigned char header[12] = {0xfd, '7', 'z', 'X', 'Z', 0, 0, check};

    xz_put_low(header + 8, xz_crc32(header + 6, 2), 4);
    image->start = image->size;
    image->check = check;
    image->records_size = image->blocks = 0;
    xz_add(image, header, sizeof(header));
}

static inline void xz_add_block(struct xz_image *image, const struct xz_block *block)
{
    unsigned char header[64] = {0}, *end = header + 2;

    if (block->said_packed != XZ_NO_SIZE) {
        header[1] |= 0x40;
        end += xz_put_number(end, block->said_packed);
    }
    if (block->said_unpacked != XZ_NO_SIZE) {
        header[1] |= 0x80;
        end += xz_put_number(end, block->said_unpacked);
    }
    memcpy(end, (unsigned char[]){0x21, 1, block->dictionary}, 3);
    size_t size = ((size_t)(end + 3 - header) + 4 + 3) / 4 * 4;
    header[0] = (unsigned char)(size / 4 - 1);
    xz_put_low(header + size - 4, xz_crc32(header, size - 4), 4);
    xz_add(image, header, size);
    xz_add(image, block->raw, block->raw_size);
    xz_add(image, "\0\0\0", -block->raw_size & 3);
    xz_add(image, block->check ? block->check : "", xz_check_size(image->check));
    image->records_size += xz_put_number(image->records + image->records_size,
                                         size + block->raw_size + xz_check_size(image->check));
    image->records_size += xz_put_number(image->records + image->records_size, block->unpacked);
    image->blocks++;
}

static inline void xz_end(struct xz_image *image)
{
    unsigned char *index = image->bytes + image->size, footer[12] = {0};

    *index = 0;
    size_t size = 1 + xz_put_number(index + 1, image->blocks);
    memcpy(index + size, image->records, image->records_size);
    size += image->records_size;
    while (size % 4)
        index[size++] = 0;
    xz_put_low(index + size, xz_crc32(index, size), 4);
    image->size += size + 4;
    xz_put_low(footer + 4, size / 4, 4);
    footer[9] = image->check;
    memcpy(footer + 10, "YZ", 2);
    xz_put_low(footer, xz_crc32(footer + 4, 6), 4);
    xz_add(image, footer, sizeof(footer));
}

/*
 * The size of LZMA2 chunks in bytes, including their end marker, and the size that they claim to
 * unpack to. 0: there is no end marker, or a byte that begins no chunk.
 */
static inline size_t xz_chunks(const unsigned char *bytes, size_t size, uint64_t *unpacked)
{
    *unpacked = 0;
    for (size_t at = 0, next; at < size; at = next) {
        unsigned char control = bytes[at];
        if (!control)
            return at + 1;
        if (size - at < 6 || (control > 2 && control < 0x80))
            return 0;
        *unpacked += (uint64_t)(bytes[at + 1] << 8 | bytes[at + 2]) + 1;
        if (control < 0x80) {
            next = at + 3 + (size_t)(bytes[at + 1] << 8 | bytes[at + 2]) + 1;
        } else {
            *unpacked += (uint64_t)(control & 0x1f) << 16;
            next = at + (control < 0xc0 ? 5 : 6) + (size_t)(bytes[at + 3] << 8 | bytes[at + 4]) + 1;
        }
    }
    return 0;
}

/* The offset after a number at `at`, or `size`. */
static inline size_t xz_skip_number(const unsigned char *bytes, size_t size, size_t at)
{
    while (at < size && bytes[at] & 0x80)
        at++;
    return at < size ? at + 1 : size;
}

/* Corrects the CRC32 of the index at `at`; returns where the footer begins, or 0. */
static inline size_t xz_fix_index(unsigned char *bytes, size_t size, size_t at)
{
    size_t end = at + 1;
    uint64_t blocks = 0;

    for (unsigned shift = 0; end < size && shift < 56; shift += 7) {
        blocks |= (uint64_t)(bytes[end] & 0x7f) << shift;
        if (!(bytes[end++] & 0x80))
            break;
    }
    while (blocks-- && end < size)
        end = xz_skip_number(bytes, size, xz_skip_number(bytes, size, end));
    end += (at - end) & 3;
    if (end > size || size - end < 4)
        return 0;
    xz_put_low(bytes + end, xz_crc32(bytes + at, end - at), 4);
    return end + 4;
}

/* Corrects the CRC32s of one stream, as far as its parts can be found; returns where it ends, or 0. */
static inline size_t xz_fix_stream(unsigned char *bytes, size_t size, size_t at)
{
    uint64_t unpacked;

    if (size - at < 12)
        return 0;
    unsigned char check = bytes[at + 7];
    xz_put_low(bytes + at + 8, xz_crc32(bytes + at + 6, 2), 4);
    for (at += 12; at < size && bytes[at];) {
        size_t header = ((size_t)bytes[at] + 1) * 4, raw = 0;
        if (header <= size - at) {
            xz_put_low(bytes + at + header - 4, xz_crc32(bytes + at, header - 4), 4);
            at += header;
            raw = xz_chunks(bytes + at, size - at, &unpacked);
        }
        if (!raw)
            return 0;
        at += (raw + 3) / 4 * 4 + xz_check_size(check);
    }
    at = at < size ? xz_fix_index(bytes, size, at) : 0;
    if (!at || size - at < 12)
        return 0;
    xz_put_low(bytes + at, xz_crc32(bytes + at + 4, 6), 4);
    return at + 12;
}

static inline void xz_fix(unsigned char *bytes, size_t size)
{
    for (size_t at = 0; size && (at = xz_fix_stream(bytes, size, at));) {
        while (size - at >= 4 && !memcmp(bytes + at, "\0\0\0", 4))
            at += 4;
        if (at == size)
            return;
    }
}

static inline struct xz_block xz_block_of(const void *raw, size_t size, const char *unpacked)
{
    return (struct xz_block){.raw = raw, .raw_size = size, .unpacked = strlen(unpacked),
                             .said_packed = XZ_NO_SIZE, .said_unpacked = XZ_NO_SIZE};
}

/* A file with this one block, without a check. */
static inline void xz_make(struct xz_image *image, const struct xz_block *block)
{
    image->size = 0;
    xz_begin(image, 0);
    xz_add_block(image, block);
    xz_end(image);
}

#endif
