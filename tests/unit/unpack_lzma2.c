/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * LZMA2: chunks made symbol by symbol. xz unpacks the valid ones to the same bytes, and calls the
 * others corrupt.
 */
#include "unit/unpacking.h"
#include "unit/xz_image.h"

/* abcabd, 5 from 3 back, 1 from there, xyz, 4 from 9 back, q, 3 by the previous distance... */
static const unsigned char symbols[] = {
    0xe0, 0x00, 0x41, 0x00, 0x1b, 0x5d, 0x00, 0x30, 0x98, 0x88, 0x97, 0xea, 0xab, 0xfc, 0x76,
    0xd0, 0xc2, 0xcc, 0x34, 0xfb, 0xab, 0xfa, 0x63, 0x14, 0x50, 0x06, 0xc8, 0xec, 0x9a, 0xa7,
    0xf7, 0x1f, 0xb8, 0x00, 0x00,
};
static const char symbols_text[] =
    "abcabdabdabdxyzabdaqdaqaqxyzabdaqdaqaqxyzabdaaqaqaqaqaqaqaqaqaqaq!";

/* Chunks with 01, c0, 80, 02, 80, a0, c0 with other properties, e0. */
static const unsigned char controls[] = {
    0x01, 0x00, 0x05, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x20, 0xc0, 0x00, 0x0a, 0x00, 0x0b, 0x5d,
    0x00, 0x3b, 0x9b, 0xca, 0xab, 0x74, 0x0b, 0xed, 0xcd, 0xea, 0x00, 0x00, 0x80, 0x00, 0x05,
    0x00, 0x06, 0x00, 0xd3, 0x1f, 0x7c, 0x00, 0x00, 0x00, 0x02, 0x00, 0x04, 0x70, 0x6c, 0x61,
    0x69, 0x6e, 0x80, 0x00, 0x04, 0x00, 0x06, 0x00, 0xd2, 0x28, 0xa7, 0x1f, 0x00, 0x00, 0xa0,
    0x00, 0x08, 0x00, 0x05, 0x00, 0x9c, 0x3f, 0xfc, 0x00, 0x00, 0xc0, 0x00, 0x08, 0x00, 0x08,
    0x12, 0x00, 0x32, 0x9c, 0x65, 0xc4, 0x20, 0xd0, 0x30, 0x00, 0xe0, 0x00, 0x06, 0x00, 0x08,
    0x12, 0x00, 0x37, 0x1a, 0x16, 0x5c, 0xb6, 0x04, 0x30, 0x00, 0x00,
};
static const char controls_text[] = "hello worldhello world?plainworl.worl.worlendendendnewnewn";

static struct xz_image image;

static int result_of_block(const struct xz_block *block)
{
    xz_make(&image, block);
    return result_of(unpack_xz, image.bytes, image.size);
}

static void check_chunks(const void *raw, size_t size, const char *expected)
{
    struct xz_block block = xz_block_of(raw, size, expected);

    xz_make(&image, &block);
    check_text(unpack_xz, image.bytes, image.size, expected);
}

static int result_of_chunks(const void *raw, size_t size)
{
    struct xz_block block = xz_block_of(raw, size, "");
    uint64_t unpacked;

    xz_chunks(raw, size, &unpacked);
    block.unpacked = unpacked;
    return result_of_block(&block);
}

TEST(every_symbol)
{
    check_chunks(symbols, sizeof(symbols), symbols_text);
}

TEST(every_control)
{
    check_chunks(controls, sizeof(controls), controls_text);
    for (unsigned control = 0; control < 256; control++) {
        /* the first chunk may begin this way, others may not */
        unsigned char raw[] = {(unsigned char)control, 0, 2, 'a', 'b', 'c', 0};
        if (control != 0 && control < 0xe0)
            CHECK_NUMBER(result_of_chunks(raw, sizeof(raw)), control == 1 ? 0 : -EBADMSG);
    }
    /* after an uncompressed start, properties must come; another reset would lose what it repeats */
    for (unsigned control = 0x80; control < 256; control += 0x20) {
        unsigned char raw[28] = "\1\0\5hello ";
        memcpy(raw + 9, controls + 9, 18);
        raw[9] = (unsigned char)control;
        CHECK_NUMBER(result_of_chunks(raw, sizeof(raw)), control == 0xc0 ? 0 : -EBADMSG);
    }
    CHECK_NUMBER(result_of_chunks("\1\0\2abc\3\0\2abc", 13), -EBADMSG);
    CHECK_NUMBER(result_of_chunks("\1\0\2abc\x7f\0\2abc", 13), -EBADMSG);
    CHECK_NUMBER(result_of_chunks("\1\0\2abc\2\0\2abc", 13), 0);
    check_text(unpack_xz, image.bytes, image.size, "abcabc");
}

TEST(properties)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        unsigned char raw[sizeof(symbols)];
        unsigned before = byte % 9, place = byte / 9 % 5;
        memcpy(raw, symbols, sizeof(raw));
        raw[5] = (unsigned char)byte;
        /* with others, the same bytes are something else, or invalid, but no crash */
        int result = result_of_chunks(raw, sizeof(raw));
        CHECK(byte < 225 && before + place <= 4 ? result == 0 || result == -EBADMSG
                                                : result == -EBADMSG);
    }
}

/* xz calls each of these corrupt, except the first */
TEST(distances_and_ends)
{
    static const struct {
        const char *raw;
        size_t size;
        int result;
    } known[] = {
        /* abc, then from 3 and from 4 back */
        {"\xe0\x00\x04\x00\x08\x5d\x00\x30\x98\x88\xa3\xb5\x94\xe0\x00\x00", 16, 0},
        {"\xe0\x00\x04\x00\x08\x5d\x00\x30\x98\x88\xa3\xb7\xfc\x00\x00\x00", 16, -EBADMSG},
        /* from before a reset */
        {"\x01\x00\x05" "abcdef\xe0\x00\x02\x00\x06\x5d\x00\x3c\x40\x04\x00\x00\x00\x00", 23,
         -EBADMSG},
        {"\xe0\x00\x05\x00\x08\x5d\x00\x30\x98\x88\xa4\x4f\x5d\x00\x00\x01\x00\x00\x71"
         "\xc0\x00\x01\x00\x05\x5d\x00\x80\x0f\xfc\x00\x00\x00", 32, -EBADMSG},
        /* the same symbols in a chunk that claims a byte less, and one more */
        {"\xe0\x00\x0b\x00\x08\x5d\x00\x30\x98\x88\xa7\xea\x25\x00\x00\x00", 16, 0},
        {"\xe0\x00\x0a\x00\x08\x5d\x00\x30\x98\x88\xa7\xea\x25\x00\x00\x00", 16, -EBADMSG},
        {"\xe0\x00\x0c\x00\x08\x5d\x00\x30\x98\x88\xa7\xea\x25\x00\x00\x00", 16, -EBADMSG},
        /* and with one byte more, and one missing */
        {"\xe0\x00\x0b\x00\x09\x5d\x00\x30\x98\x88\xa7\xea\x25\x00\x00\x00\x00", 17, -EBADMSG},
        {"\xe0\x00\x0b\x00\x07\x5d\x00\x30\x98\x88\xa7\xea\x25\x00\x00", 15, -EBADMSG},
        {"\xe0\x00\x0b\x00\x03\x5d\x00\x30\x98\x88\x00", 11, -EBADMSG},
        /* the first byte is 0; the end marker of plain LZMA */
        {"\xe0\x00\x04\x00\x08\x5d\x01\x30\x98\x88\xa3\xb5\x94\xe0\x00\x00", 16, -EBADMSG},
        {"\xe0\x00\x04\x00\x0c\x5d\x00\x30\x98\x88\xa4\x4a\x8e\x9f\xff\xf6\x63\x80\x00\x00", 20,
         -EBADMSG},
    };

    for (size_t i = 0; i < COUNT_OF(known); i++)
        CHECK_NUMBER(result_of_chunks(known[i].raw, known[i].size), known[i].result);
    check_chunks(known[0].raw, known[0].size, "abcab");
}

/* 5000 uncompressed bytes, then two from that far back: no farther than the dictionary size. */
TEST(dictionaries)
{
    static const struct {
        size_t distance;
        unsigned char chunk[15]; /* and a NUL */
    } known[] = {
        {4096, "\xc0\x00\x01\x00\x06\x5d\x00\x81\x7f\xf8\x00\x00\x00\x00"},
        {4097, "\xc0\x00\x01\x00\x06\x5d\x00\x81\x7f\xfc\x00\x00\x00\x00"},
        {5000, "\xc0\x00\x01\x00\x06\x5d\x00\x81\x87\x18\x00\x00\x00\x00"},
    };

    for (unsigned char dictionary = 0; dictionary < 3; dictionary++)
        for (size_t i = 0; i < COUNT_OF(known); i++) {
            unsigned char raw[3 + 5000 + 14] = {1, 4999 >> 8, 4999 & 0xff};
            AUTO_TEXT text = {0};
            for (size_t at = 0; at < 5000; at++)
                raw[3 + at] = (unsigned char)(at * at >> 3);
            memcpy(raw + 5003, known[i].chunk, 14);
            struct xz_block block = xz_block_of(raw, sizeof(raw), "");
            block.unpacked = 5002;
            block.dictionary = dictionary; /* 4, 6 and 8 KB */
            xz_make(&image, &block);
            bool is_near = known[i].distance <= (dictionary ? 6144 : 4096);
            CHECK_NUMBER(unpack(unpack_xz, image.bytes, image.size, 5002, &text), is_near ? 0 : -EBADMSG);
            CHECK(!is_near || (text.length == 5002 && !memcmp(text.data, raw + 3, 5000) &&
                               !memcmp(text.data + 5000, raw + 5003 - known[i].distance, 2)));
        }
}

TEST_MAIN
