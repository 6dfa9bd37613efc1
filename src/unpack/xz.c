/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The container: streams, each with a header, blocks, an index of the blocks, and a footer. */
#include "unpack/unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/text.h"

#define HEADER_BYTES 12
#define FOOTER_BYTES 12
#define CRC32_BYTES 4
#define LZMA2_FILTER 0x21
#define GREATEST_DICTIONARY 40 /* as encoded in a header */

enum check { CHECK_NONE = 0, CHECK_CRC32 = 1, CHECK_CRC64 = 4, CHECK_SHA256 = 10 };

/* The flags of a block's header. */
enum { FILTERS = 0x03, UNKNOWN = 0x3c, HAS_PACKED_SIZE = 0x40, HAS_SIZE = 0x80 };

struct xz {
    struct source source;
    struct sink sink;
    enum check check;  /* of each block of this stream */
    uint64_t blocks;   /* how many there were */
    uint64_t records;  /* the CRC-64 of what the index must say about them */
    struct crc32 crc32;
    struct crc64 crc64;
    struct lzma lzma;
};

static size_t check_size(enum check check)
{
    return check == CHECK_CRC32 ? 4 : check == CHECK_CRC64 ? 8 : check == CHECK_SHA256 ? 32 : 0;
}

static uint32_t crc32_of(struct xz *xz, const void *bytes, size_t length)
{
    crc32_again(&xz->crc32);
    crc32_add(&xz->crc32, bytes, length);
    return crc32_value(&xz->crc32);
}

/* Are these bytes followed by their CRC32? */
static bool is_sound(struct xz *xz, const unsigned char *bytes, size_t length)
{
    return crc32_of(xz, bytes, length) == low_first(bytes + length, CRC32_BYTES);
}

/* How many bytes are missing to the next multiple of four. */
static size_t padding(size_t bytes)
{
    return -bytes & 3;
}

/* Seven bits per byte, low ones first, in as few bytes as possible. */
static int take_number(struct source *source, uint64_t *number)
{
    struct source byte;

    *number = 0;
    for (unsigned shift = 0; shift < 63 && source_take(source, 1, &byte); shift += 7) {
        *number |= (uint64_t)(*byte.at & 0x7f) << shift;
        if (!(*byte.at & 0x80))
            return *byte.at || !shift ? 0 : -EBADMSG;
    }
    return -EBADMSG;
}

static int read_header(struct xz *xz)
{
    static const unsigned char magic[] = {0xfd, '7', 'z', 'X', 'Z', 0};
    struct source header;

    if (!source_take(&xz->source, HEADER_BYTES, &header) ||
        memcmp(header.at, magic, sizeof(magic)) || !is_sound(xz, header.at + sizeof(magic), 2))
        return -EBADMSG;
    xz->check = header.at[7];
    xz->blocks = 0;
    xz->records = 0;
    return header.at[6] || (xz->check && !check_size(xz->check)) ? -EOPNOTSUPP : 0;
}

/* What a block's header says. Sizes are UINT64_MAX if it has none. */
struct block {
    uint64_t packed_size, size;
    size_t dictionary;
};

/* Accepts LZMA2 only, and reads its dictionary size. */
static int read_filters(struct source *header, size_t *dictionary)
{
    uint64_t filter, properties;
    struct source byte;

    if (take_number(header, &filter))
        return -EBADMSG;
    if (filter != LZMA2_FILTER)
        return -EOPNOTSUPP;
    if (take_number(header, &properties) || properties != 1 || !source_take(header, 1, &byte) ||
        *byte.at > GREATEST_DICTIONARY)
        return -EBADMSG;
    uint64_t size = (uint64_t)(2 | (*byte.at & 1)) << (*byte.at / 2 + 11);
    *dictionary = size > SIZE_MAX ? SIZE_MAX : (size_t)size;
    return 0;
}

static int read_block_header(struct xz *xz, struct block *block)
{
    size_t size = ((size_t)*xz->source.at + 1) * 4;
    struct source header;

    if (!source_take(&xz->source, size, &header) || !is_sound(xz, header.at, size - CRC32_BYTES))
        return -EBADMSG;
    unsigned flags = header.at[1];
    header = (struct source){header.at + 2, size - CRC32_BYTES - 2};
    if (flags & (UNKNOWN | FILTERS)) /* their number less one */
        return -EOPNOTSUPP;
    *block = (struct block){UINT64_MAX, UINT64_MAX, 0};
    if (flags & HAS_PACKED_SIZE && take_number(&header, &block->packed_size))
        return -EBADMSG;
    if (flags & HAS_SIZE && take_number(&header, &block->size))
        return -EBADMSG;
    int result = read_filters(&header, &block->dictionary);
    if (!result && !source_take_zeros(&header, header.left))
        result = -EBADMSG;
    return result;
}

static bool is_as_checked(struct xz *xz, const void *bytes, size_t length,
                          const unsigned char *check)
{
    unsigned char digest[SHA256_BYTES];

    switch (xz->check) {
    case CHECK_CRC32: return crc32_of(xz, bytes, length) == low_first(check, 4);
    case CHECK_CRC64: return crc64_of(&xz->crc64, 0, bytes, length) == low_first(check, 8);
    case CHECK_SHA256:
        sha256(bytes, length, digest);
        return !memcmp(digest, check, sizeof(digest));
    case CHECK_NONE:
        break;
    }
    return true;
}

static void add_record(struct xz *xz, uint64_t unpadded_size, uint64_t size)
{
    const uint64_t record[] = {unpadded_size, size};

    xz->records = crc64_of(&xz->crc64, xz->records, record, sizeof(record));
}

static int read_block(struct xz *xz)
{
    const unsigned char *begin = xz->source.at;
    struct text *text = xz->sink.text;
    size_t start = text->length;
    struct block block;
    struct source check;

    int result = read_block_header(xz, &block);
    const unsigned char *packed = xz->source.at;
    if (!result && block.size != UINT64_MAX && block.size > xz->sink.limit - start)
        result = -EFBIG;
    if (!result)
        result = lzma2_decode(&xz->lzma, &xz->source, block.dictionary, &xz->sink);
    if (result)
        return result;
    size_t packed_size = (size_t)(xz->source.at - packed), size = text->length - start;
    if ((block.packed_size != UINT64_MAX && block.packed_size != packed_size) ||
        (block.size != UINT64_MAX && block.size != size) ||
        !source_take_zeros(&xz->source, padding(packed_size)) ||
        !source_take(&xz->source, check_size(xz->check), &check) ||
        !is_as_checked(xz, text->data + start, size, check.at))
        return -EBADMSG;
    xz->blocks++;
    add_record(xz, (uint64_t)(packed - begin) + packed_size + check.left, size);
    return 0;
}

/* Compares the index with the blocks' sizes. *size: how large the index is. */
static int read_index(struct xz *xz, size_t *size)
{
    struct source *source = &xz->source;
    const unsigned char *begin = source->at;
    uint64_t blocks, records = xz->records, unpadded_size, unpacked_size;
    struct source crc;

    if (!source_take_zeros(source, 1) || take_number(source, &blocks) || blocks != xz->blocks)
        return -EBADMSG;
    xz->records = 0;
    for (; blocks; blocks--) {
        if (take_number(source, &unpadded_size) || take_number(source, &unpacked_size))
            return -EBADMSG;
        add_record(xz, unpadded_size, unpacked_size);
    }
    *size = (size_t)(source->at - begin);
    if (xz->records != records || !source_take_zeros(source, padding(*size)) ||
        !source_take(source, CRC32_BYTES, &crc))
        return -EBADMSG;
    *size += padding(*size);
    return is_sound(xz, begin, *size) ? 0 : -EBADMSG;
}

static int read_footer(struct xz *xz, size_t index_size)
{
    struct source footer;

    if (!source_take(&xz->source, FOOTER_BYTES, &footer) ||
        crc32_of(xz, footer.at + 4, 6) != low_first(footer.at, CRC32_BYTES) ||
        (low_first(footer.at + 4, 4) + 1) * 4 != index_size + CRC32_BYTES || footer.at[8] ||
        footer.at[9] != xz->check || memcmp(footer.at + 10, "YZ", 2))
        return -EBADMSG;
    return 0;
}

static int read_stream(struct xz *xz)
{
    size_t index_size = 0;

    int result = read_header(xz);
    while (!result && xz->source.left && *xz->source.at)
        result = read_block(xz);
    if (!result)
        result = read_index(xz, &index_size);
    return result ? result : read_footer(xz, index_size);
}

int unpack_xz(const unsigned char *packed, size_t size, size_t most, struct text *to)
{
    struct xz *xz = malloc(sizeof(*xz));

    if (!xz)
        return -ENOMEM;
    xz->source = (struct source){packed, size};
    crc32_begin(&xz->crc32);
    crc64_prepare(&xz->crc64);
    int result = sink_open(&xz->sink, to, most);
    if (!result) {
        do {
            result = read_stream(xz);
            /* A stream may be followed by zeros, in multiples of four. */
            while (!result && xz->source.left >= 4 && !low_first(xz->source.at, 4))
                result = source_take_zeros(&xz->source, 4) ? 0 : -EBADMSG;
        } while (!result && xz->source.left);
        to->data[to->length] = '\0';
    }
    free(xz);
    return result;
}
