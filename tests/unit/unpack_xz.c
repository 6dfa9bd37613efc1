/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * .xz files by xz 5.4.1: whole, truncated and damaged byte by byte; and files made here, with
 * fields that contradict each other.
 */
#include "base/checksum.h"
#include "unit/unpacking.h"
#include "unit/xz_image.h"

static const char words[] =
    "a frame above a frame above a frame; main above _start, 0123456789 9876543210\n";

/* xz's output for these words, with the options used. */
/* -6 --check=crc32 */
static const unsigned char with_crc32[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0x00, 0x21,
    0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0xe0, 0x00, 0x4d, 0x00, 0x39, 0x5d,
    0x00, 0x30, 0x88, 0x08, 0xc7, 0x63, 0x81, 0xab, 0x1f, 0x66, 0xf0, 0x00, 0x00, 0xbb, 0x56,
    0x69, 0x20, 0x5e, 0x68, 0xa8, 0xa4, 0x85, 0x13, 0x78, 0xc3, 0xf3, 0x4c, 0xe4, 0x1a, 0xf7,
    0x5e, 0x40, 0xd0, 0xb7, 0x17, 0xb7, 0xe5, 0xdf, 0x3c, 0x11, 0x96, 0x88, 0xfc, 0x96, 0xc7,
    0x7b, 0x74, 0x80, 0x45, 0x59, 0x09, 0x24, 0xa3, 0xbb, 0xac, 0xcf, 0x46, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x55, 0xa7, 0x70, 0xcf, 0x00, 0x01, 0x51, 0x4e, 0xa9, 0xb5, 0x42, 0x12, 0x90,
    0x42, 0x99, 0x0d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5a,
};
/* -6 --check=crc64 */
static const unsigned char with_crc64[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21,
    0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0xe0, 0x00, 0x4d, 0x00, 0x39, 0x5d,
    0x00, 0x30, 0x88, 0x08, 0xc7, 0x63, 0x81, 0xab, 0x1f, 0x66, 0xf0, 0x00, 0x00, 0xbb, 0x56,
    0x69, 0x20, 0x5e, 0x68, 0xa8, 0xa4, 0x85, 0x13, 0x78, 0xc3, 0xf3, 0x4c, 0xe4, 0x1a, 0xf7,
    0x5e, 0x40, 0xd0, 0xb7, 0x17, 0xb7, 0xe5, 0xdf, 0x3c, 0x11, 0x96, 0x88, 0xfc, 0x96, 0xc7,
    0x7b, 0x74, 0x80, 0x45, 0x59, 0x09, 0x24, 0xa3, 0xbb, 0xac, 0xcf, 0x46, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x4b, 0xb2, 0xff, 0x42, 0x34, 0x7f, 0x63, 0x45, 0x00, 0x01, 0x55, 0x4e, 0xad,
    0x70, 0x2e, 0x76, 0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a,
};
/* -9e --check=sha256 */
static const unsigned char with_sha256[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x0a, 0xe1, 0xfb, 0x0c, 0xa1, 0x02, 0x00, 0x21,
    0x01, 0x1c, 0x00, 0x00, 0x00, 0x10, 0xcf, 0x58, 0xcc, 0xe0, 0x00, 0x4d, 0x00, 0x39, 0x5d,
    0x00, 0x30, 0x88, 0x08, 0xc7, 0x63, 0x81, 0xab, 0x1f, 0x66, 0xf0, 0x00, 0x00, 0xbb, 0x56,
    0x69, 0x20, 0x5e, 0x68, 0xa8, 0xa4, 0x85, 0x13, 0x78, 0xc3, 0xf3, 0x4c, 0xe4, 0x1a, 0xf7,
    0x5e, 0x40, 0xd0, 0xb7, 0x17, 0xb7, 0xe5, 0xdf, 0x3c, 0x11, 0x96, 0x88, 0xfc, 0x96, 0xc7,
    0x7b, 0x74, 0x80, 0x45, 0x59, 0x09, 0x24, 0xa3, 0xbb, 0xac, 0xcf, 0x46, 0x00, 0x00, 0x00,
    0x00, 0x00, 0xc3, 0x91, 0xea, 0x97, 0x8f, 0x6f, 0x85, 0xa6, 0x9f, 0x3e, 0x2a, 0x9e, 0xb6,
    0xe9, 0x5c, 0x2c, 0xc4, 0x23, 0x84, 0x5b, 0x3f, 0x45, 0x4b, 0xfe, 0x9c, 0xd9, 0xb8, 0xeb,
    0xac, 0x14, 0xd2, 0x16, 0x00, 0x01, 0x6d, 0x4e, 0x56, 0xcc, 0xb1, 0x61, 0x18, 0x9b, 0x4b,
    0x9a, 0x01, 0x00, 0x00, 0x00, 0x00, 0x0a, 0x59, 0x5a,
};
/* --check=none --lzma2=dict=4KiB,lc=0,lp=2,pb=4 */
static const unsigned char with_none[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x00, 0xff, 0x12, 0xd9, 0x41, 0x02, 0x00, 0x21,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x37, 0x27, 0x97, 0xd6, 0xe0, 0x00, 0x4d, 0x00, 0x3d, 0xc6,
    0x00, 0x30, 0x88, 0x08, 0xc7, 0x23, 0x13, 0x1e, 0x0d, 0x95, 0x7d, 0x58, 0x8a, 0xed, 0x3f,
    0x65, 0xb7, 0x17, 0xc1, 0xa4, 0xaf, 0xc7, 0xc6, 0x00, 0xd3, 0x77, 0x70, 0xdd, 0x67, 0x9c,
    0x2d, 0x20, 0x99, 0x63, 0x74, 0x2b, 0xa8, 0x8f, 0x12, 0x28, 0xb4, 0x4a, 0x40, 0x06, 0x88,
    0xde, 0x67, 0x2c, 0xfc, 0x94, 0x84, 0x78, 0xde, 0xbb, 0xad, 0xf6, 0x10, 0xd0, 0x62, 0x32,
    0x24, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x51, 0x4e, 0xa9, 0xb5, 0x42, 0x12, 0x06,
    0x72, 0x9e, 0x7a, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x59, 0x5a,
};
/* --check=crc32 -T2 --block-size=40: two blocks with their sizes */
static const unsigned char of_blocks[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0xc0, 0x22,
    0x28, 0x21, 0x01, 0x16, 0x00, 0xdc, 0x90, 0x1b, 0x55, 0xe0, 0x00, 0x27, 0x00, 0x1a, 0x5d,
    0x00, 0x30, 0x88, 0x08, 0xc7, 0x63, 0x81, 0xab, 0x1f, 0x66, 0xf0, 0x00, 0x00, 0xbb, 0x56,
    0x69, 0x20, 0x5e, 0x68, 0xa8, 0xa4, 0x85, 0x13, 0x75, 0x90, 0x60, 0x20, 0x00, 0x00, 0x00,
    0x87, 0xcb, 0xe8, 0x48, 0x02, 0xc0, 0x2a, 0x26, 0x21, 0x01, 0x16, 0x00, 0xd0, 0xac, 0x78,
    0x06, 0x01, 0x00, 0x25, 0x6e, 0x20, 0x61, 0x62, 0x6f, 0x76, 0x65, 0x20, 0x5f, 0x73, 0x74,
    0x61, 0x72, 0x74, 0x2c, 0x20, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39,
    0x20, 0x39, 0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31, 0x30, 0x0a, 0x00, 0x00, 0x00,
    0xbe, 0x96, 0x09, 0x15, 0x00, 0x02, 0x32, 0x28, 0x3a, 0x26, 0x00, 0x00, 0xb4, 0x2e, 0xe8,
    0xe9, 0x3e, 0x30, 0x0d, 0x8b, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5a,
};

static const struct sample {
    const unsigned char *bytes;
    size_t size;
    bool is_checked;
} samples[] = {
    {with_crc32, sizeof(with_crc32), true},   {with_crc64, sizeof(with_crc64), true},
    {with_sha256, sizeof(with_sha256), true}, {with_none, sizeof(with_none), false},
    {of_blocks, sizeof(of_blocks), true},
};

static bool holds(const struct text *text, const char *expected)
{
    return text->length == strlen(expected) && !memcmp(text->data, expected, text->length + 1);
}

/* ---- files of xz */

TEST(files_of_xz)
{
    for (size_t i = 0; i < COUNT_OF(samples); i++)
        check_text(unpack_xz, samples[i].bytes, samples[i].size, words);
}

TEST(streams_one_after_the_other)
{
    unsigned char bytes[1024] = {0};
    char expected[3 * sizeof(words)];
    size_t size = 0;

    memcpy(bytes, with_crc32, sizeof(with_crc32));
    size = sizeof(with_crc32);
    memcpy(bytes + size, with_none, sizeof(with_none));
    size += sizeof(with_none) + 8; /* of padding */
    memcpy(bytes + size, of_blocks, sizeof(of_blocks));
    size += sizeof(of_blocks);
    snprintf(expected, sizeof(expected), "%s%s%s", words, words, words);
    check_text(unpack_xz, bytes, size, expected);
    check_text(unpack_xz, bytes, size + 4, expected);
    for (size_t more = 1; more < 4; more++)
        CHECK_NUMBER(result_of(unpack_xz, bytes, size + more), -EBADMSG);
    bytes[size] = 1;
    CHECK_NUMBER(result_of(unpack_xz, bytes, size + 4), -EBADMSG);
    CHECK_NUMBER(result_of(unpack_xz, bytes + sizeof(with_crc32) + sizeof(with_none), 4), -EBADMSG);
    CHECK_NUMBER(result_of(unpack_xz, bytes, 0), -EBADMSG);
}

TEST(behind_other_text)
{
    AUTO_TEXT text = {0};

    text_add(&text, "before ");
    CHECK_NUMBER(unpack(unpack_xz, with_crc64, sizeof(with_crc64), strlen(words), &text), 0);
    CHECK(!strncmp(text.data, "before ", 7));
    CHECK_STRING(text.data + 7, words);
    text_clear(&text);
    CHECK_NUMBER(unpack(unpack_xz, with_crc64, sizeof(with_crc64), strlen(words) - 1, &text), -EFBIG);
    text_clear(&text);
    CHECK_NUMBER(unpack(unpack_xz, of_blocks, sizeof(of_blocks), strlen(words) - 1, &text), -EFBIG);
    text_clear(&text);
    CHECK_NUMBER(unpack(unpack_xz, of_blocks, sizeof(of_blocks), SIZE_MAX, &text), 0);
    CHECK_STRING(text.data, words);
}

TEST(every_truncation)
{
    for (size_t i = 0; i < COUNT_OF(samples); i++)
        for (size_t size = 0; size < samples[i].size; size++)
            CHECK_NUMBER(result_of(unpack_xz, samples[i].bytes, size), -EBADMSG);
}

static void try_spoiled(const struct sample *sample, size_t at, unsigned char change,
                        unsigned *believed, unsigned *wrong)
{
    unsigned char bytes[256];
    AUTO_TEXT text = {0};

    memcpy(bytes, sample->bytes, sample->size);
    bytes[at] ^= change;
    if (!unpack(unpack_xz, bytes, sample->size, PLENTY, &text)) {
        ++*believed;
        *wrong += !holds(&text, words);
    }
}

/*
 * Every other value of each byte of the first sample, every flipped bit of the others: with a
 * checksum nothing wrong is accepted.
 */
TEST(every_spoiled_byte)
{
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        unsigned believed = 0, wrong = 0;
        for (size_t at = 0; at < samples[i].size; at++)
            for (unsigned change = 1; change < 256; i ? change <<= 1 : change++)
                try_spoiled(&samples[i], at, (unsigned char)change, &believed, &wrong);
        CHECK_NUMBER(samples[i].is_checked ? wrong : 0, 0);
        CHECK_NUMBER(samples[i].is_checked ? believed : 0, 0);
        /* LZMA without a checksum may unpack to something else, which shows that this test would notice. */
        CHECK(samples[i].is_checked || wrong > 0);
    }
}

/* ---- the container, with right checksums over wrong fields */

static struct xz_image image;

static int result_of_block(const struct xz_block *block)
{
    xz_make(&image, block);
    return result_of(unpack_xz, image.bytes, image.size);
}

static const char plain[] = "\1\0\2abc"; /* with its end */

TEST(sizes_that_headers_say)
{
    struct xz_block block = xz_block_of(plain, sizeof(plain), "abc");

    CHECK_NUMBER(result_of_block(&block), 0);
    block.said_packed = sizeof(plain);
    block.said_unpacked = 3;
    CHECK_NUMBER(result_of_block(&block), 0);
    check_text(unpack_xz, image.bytes, image.size, "abc");
    for (int off = -1; off <= 1; off += 2) {
        block.said_packed = sizeof(plain) + off;
        CHECK_NUMBER(result_of_block(&block), -EBADMSG);
        block.said_packed = XZ_NO_SIZE;
        block.said_unpacked = 3 + off;
        CHECK_NUMBER(result_of_block(&block), -EBADMSG);
    }
    block.said_unpacked = PLENTY;
    CHECK_NUMBER(result_of_block(&block), -EBADMSG);
    block.said_unpacked = PLENTY + 1;
    CHECK_NUMBER(result_of_block(&block), -EFBIG);
    block.said_unpacked = UINT64_MAX >> 1;
    CHECK_NUMBER(result_of_block(&block), -EFBIG);
    block.said_unpacked = UINT64_MAX - 1; /* of ten bytes */
    CHECK_NUMBER(result_of_block(&block), -EBADMSG);
    block.said_unpacked = XZ_NO_SIZE;
    block.said_packed = UINT64_MAX - 1;
    CHECK_NUMBER(result_of_block(&block), -EBADMSG);
    block.said_packed = 0;
    CHECK_NUMBER(result_of_block(&block), -EBADMSG);
    block = xz_block_of(plain, sizeof(plain), "abcd");
    CHECK_NUMBER(result_of_block(&block), -EBADMSG);
}

/* Memory is not allocated by the claimed size, but by what arrives. */
TEST(promises)
{
    struct xz_block block = xz_block_of(plain, sizeof(plain), "abc");
    AUTO_TEXT text = {0};

    block.said_unpacked = SIZE_MAX / 4;
    xz_make(&image, &block);
    CHECK_NUMBER(unpack(unpack_xz, image.bytes, image.size, SIZE_MAX / 2, &text), -EBADMSG);
    CHECK(text.room <= 4096);
    text_free(&text);
    /* 2 MB in a chunk of four bytes */
    block = xz_block_of("\xff\xff\xff\0\4\x5d\0\0\0\0\0\0", 12, "");
    xz_make(&image, &block);
    CHECK_NUMBER(unpack(unpack_xz, image.bytes, image.size, SIZE_MAX / 2, &text), -EBADMSG);
    CHECK(text.room <= 4096);
}

TEST(no_blocks)
{
    image.size = 0;
    for (size_t i = 0; i < 3; i++) {
        xz_begin(&image, i == 1 ? 4 : 1);
        xz_end(&image);
    }
    check_text(unpack_xz, image.bytes, image.size, "");
    struct xz_block block = xz_block_of("", 1, "");
    xz_make(&image, &block);
    check_text(unpack_xz, image.bytes, image.size, "");
}

/* The file of `plain` with this byte changed, and all CRC32s corrected. */
static int result_with(size_t at, unsigned char byte)
{
    struct xz_block block = xz_block_of(plain, sizeof(plain), "abc");

    xz_make(&image, &block);
    image.bytes[at] = byte;
    xz_fix(image.bytes, image.size);
    return result_of(unpack_xz, image.bytes, image.size);
}

/* 0: 6 magic, 2 flags, 4 CRC; 12: size, flags, filter, its size, dictionary, 3 padding, 4 CRC; 24:
   7 chunks, 1 padding; 32: index 0 1 record record, 4 CRC; 40: 4 CRC, 4 size, 2 flags, 2 magic */
TEST(fields)
{
    CHECK_NUMBER(result_with(0, 0xfd), 0);
    CHECK_NUMBER(image.size, 52);
    CHECK_NUMBER(result_with(0, 0xfe), -EBADMSG);
    CHECK_NUMBER(result_with(6, 1), -EOPNOTSUPP);
    CHECK_NUMBER(result_with(7, 0x10), -EOPNOTSUPP);
    for (unsigned char check = 1; check < 16; check++)
        CHECK_NUMBER(result_with(7, check), check == 1 || check == 4 || check == 10 ? -EBADMSG
                                                                                    : -EOPNOTSUPP);
    CHECK_NUMBER(result_with(12, 3), -EBADMSG);
    for (unsigned flags = 1; flags < 0x40; flags++)
        CHECK_NUMBER(result_with(13, (unsigned char)flags), -EOPNOTSUPP);
    for (unsigned filter = 0; filter < 0x80; filter++)
        CHECK_NUMBER(result_with(14, (unsigned char)filter), filter == 0x21 ? 0 : -EOPNOTSUPP);
    CHECK_NUMBER(result_with(14, 0xa1), -EOPNOTSUPP); /* it continues in the next byte */
    CHECK_NUMBER(result_with(15, 0), -EBADMSG);
    CHECK_NUMBER(result_with(15, 2), -EBADMSG);
    for (unsigned size = 0; size < 256; size++)
        CHECK_NUMBER(result_with(16, (unsigned char)size), size <= 40 ? 0 : -EBADMSG);
    for (size_t at = 17; at < 20; at++)
        CHECK_NUMBER(result_with(at, 1), -EBADMSG);
    CHECK_NUMBER(result_with(31, 1), -EBADMSG); /* padding */
    CHECK_NUMBER(result_with(33, 0), -EBADMSG);
    CHECK_NUMBER(result_with(33, 2), -EBADMSG);
    CHECK_NUMBER(result_with(34, 18), -EBADMSG);
    CHECK_NUMBER(result_with(34, 20), -EBADMSG);
    CHECK_NUMBER(result_with(35, 2), -EBADMSG);
    CHECK_NUMBER(result_with(35, 4), -EBADMSG);
    CHECK_NUMBER(result_with(44, 0), -EBADMSG);
    CHECK_NUMBER(result_with(44, 2), -EBADMSG);
    CHECK_NUMBER(result_with(48, 1), -EBADMSG);
    CHECK_NUMBER(result_with(49, 1), -EBADMSG);
    CHECK_NUMBER(result_with(50, 'Z'), -EBADMSG);
}

/* Numbers that are longer than necessary, or than allowed. */
TEST(long_numbers)
{
    static const char longer[] = "\x81\0", longest[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1";

    for (int which = 0; which < 2; which++) {
        unsigned char bytes[64];
        const char *number = which ? longest : longer;
        size_t length = which ? 10 : 2, size = 12;
        image.size = 0;
        xz_begin(&image, 0);
        memcpy(bytes, image.bytes, size);
        bytes[size] = 0;
        memcpy(bytes + size + 1, number, length);
        memset(bytes + size + 1 + length, 0, sizeof(bytes) - size - 1 - length);
        size_t index = 12;
        xz_put_low(bytes + size + index, xz_crc32(bytes + size, index), 4);
        CHECK_NUMBER(result_of(unpack_xz, bytes, size + index + 4), -EBADMSG);
    }
}

TEST(records_in_another_order)
{
    struct xz_block first = xz_block_of(plain, sizeof(plain), "abc");
    struct xz_block second = xz_block_of("\1\0\1ab", 6, "ab");

    for (int swapped = 0; swapped < 2; swapped++) {
        image.size = 0;
        xz_begin(&image, 0);
        xz_add_block(&image, &first);
        xz_add_block(&image, &second);
        CHECK_NUMBER(image.records_size, 4);
        if (swapped)
            memcpy(image.records, (unsigned char[]){image.records[2], image.records[3],
                                                    image.records[0], image.records[1]}, 4);
        xz_end(&image);
        CHECK_NUMBER(result_of(unpack_xz, image.bytes, image.size), swapped ? -EBADMSG : 0);
    }
}

TEST(wrong_checks)
{
    static const unsigned char kinds[] = {1, 4, 10};
    /* by sha256sum of "abc" */
    static const unsigned char digest[] = "\xba\x78\x16\xbf\x8f\x01\xcf\xea\x41\x41\x40\xde\x5d\xae"
        "\x22\x23\xb0\x03\x61\xa3\x96\x17\x7a\x9c\xb4\x10\xff\x61\xf2\x00\x15\xad";

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct xz_block block = xz_block_of(plain, sizeof(plain), "abc");
        unsigned char check[32];
        memcpy(check, digest, sizeof(check));
        if (kinds[i] < 10)
            xz_put_low(check, kinds[i] == 1 ? xz_crc32((const unsigned char *)"abc", 3)
                                            : xz_crc64((const unsigned char *)"abc", 3), 8);
        block.check = check;
        for (size_t at = 0; at <= xz_check_size(kinds[i]); at++) {
            image.size = 0;
            xz_begin(&image, kinds[i]);
            xz_add_block(&image, &block);
            xz_end(&image);
            /* the last time, nothing is wrong */
            if (at < xz_check_size(kinds[i]))
                image.bytes[32 + at] ^= 0x80;
            CHECK_NUMBER(result_of(unpack_xz, image.bytes, image.size),
                         at < xz_check_size(kinds[i]) ? -EBADMSG : 0);
        }
    }
}

/* Around lengths where a block ends and padding begins: sha256sum's result for that many 'a'. */
TEST(lengths_of_sha256)
{
    static const struct {
        size_t length;
        unsigned char first[4]; /* of the digest: all of it is compared elsewhere */
    } known[] = {
        {55, {0x9f, 0x43, 0x90, 0xf8}},
        {56, {0xb3, 0x54, 0x39, 0xa4}},
        {63, {0x7d, 0x3e, 0x74, 0xa0}},
        {64, {0xff, 0xe0, 0x54, 0xfe}},
        {65, {0x63, 0x53, 0x61, 0xc4}},
        {119, {0x31, 0xeb, 0xa5, 0x1c}},
        {120, {0x2f, 0x3d, 0x33, 0x54}},
        {128, {0x68, 0x36, 0xcf, 0x13}},
        {1000, {0x41, 0xed, 0xec, 0xe4}},
    };

    for (size_t i = 0; i < COUNT_OF(known); i++) {
        char text[1000];
        unsigned char digest[SHA256_BYTES];
        memset(text, 'a', known[i].length);
        sha256(text, known[i].length, digest);
        CHECK(!memcmp(digest, known[i].first, 4));
    }
}

TEST_MAIN
