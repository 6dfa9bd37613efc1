/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Streams of zlib 1.2.13, whole, cut and spoiled, and streams that are written here bit by bit: zlib
 * says of each of these what is said of it here.
 */
#include "unpack/unpack.h"

#include <errno.h>
#include <stdlib.h>

#include "test.h"

#define PLENTY 100000

static const char words[] =
    "a frame above a frame above a frame; main above _start, 0123456789 9876543210\n";

/* What zlib made of these words. */
/* level 0 */
static const unsigned char stored[] = {
    0x78, 0x01, 0x01, 0x4e, 0x00, 0xb1, 0xff, 0x61, 0x20, 0x66, 0x72, 0x61, 0x6d, 0x65, 0x20,
    0x61, 0x62, 0x6f, 0x76, 0x65, 0x20, 0x61, 0x20, 0x66, 0x72, 0x61, 0x6d, 0x65, 0x20, 0x61,
    0x62, 0x6f, 0x76, 0x65, 0x20, 0x61, 0x20, 0x66, 0x72, 0x61, 0x6d, 0x65, 0x3b, 0x20, 0x6d,
    0x61, 0x69, 0x6e, 0x20, 0x61, 0x62, 0x6f, 0x76, 0x65, 0x20, 0x5f, 0x73, 0x74, 0x61, 0x72,
    0x74, 0x2c, 0x20, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x20, 0x39,
    0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31, 0x30, 0x0a, 0x07, 0x2a, 0x17, 0xa9,
};
/* level 9, Z_FIXED */
static const unsigned char fixed[] = {
    0x78, 0x01, 0x4b, 0x54, 0x48, 0x2b, 0x4a, 0xcc, 0x4d, 0x55, 0x48, 0x4c, 0xca, 0x2f, 0x03,
    0x92, 0xd8, 0x78, 0xd6, 0x0a, 0xb9, 0x89, 0x99, 0x79, 0x50, 0xb1, 0xf8, 0xe2, 0x92, 0xc4,
    0xa2, 0x12, 0x1d, 0x05, 0x03, 0x43, 0x23, 0x63, 0x13, 0x53, 0x33, 0x73, 0x0b, 0x4b, 0x05,
    0x4b, 0x0b, 0x73, 0x33, 0x53, 0x13, 0x63, 0x23, 0x43, 0x03, 0x2e, 0x00, 0x07, 0x2a, 0x17,
    0xa9,
};
/* level 9, Z_HUFFMAN_ONLY, windowBits 9 */
static const unsigned char dynamic[] = {
    0x18, 0x19, 0x05, 0xc1, 0x49, 0x0a, 0x80, 0x30, 0x10, 0x04, 0xc0, 0xbb, 0xaf, 0xe8, 0x07,
    0x78, 0xc8, 0xbe, 0xe0, 0x63, 0xa4, 0x03, 0x13, 0xf0, 0x30, 0x06, 0x62, 0xc8, 0xfb, 0xad,
    0x22, 0xfa, 0xa4, 0x0a, 0xd8, 0xc6, 0x16, 0x10, 0x7d, 0x52, 0x05, 0x6c, 0x63, 0x0b, 0x88,
    0x3e, 0xa9, 0x72, 0x41, 0xf9, 0xbc, 0x60, 0x1b, 0x5b, 0x70, 0x7f, 0x8b, 0x73, 0x9d, 0x30,
    0xd6, 0xf9, 0x10, 0x53, 0x2e, 0x15, 0xb5, 0xe4, 0x14, 0x83, 0x77, 0xd6, 0x1c, 0x3f, 0x07,
    0x2a, 0x17, 0xa9,
};
/* level 6, with Z_SYNC_FLUSH behind 30 bytes and Z_FULL_FLUSH behind 60 */
static const unsigned char flushed[] = {
    0x78, 0x9c, 0x4a, 0x54, 0x48, 0x2b, 0x4a, 0xcc, 0x4d, 0x55, 0x48, 0x4c, 0xca, 0x2f, 0x03,
    0x92, 0x68, 0x3c, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0x02, 0xf3, 0xac, 0x15, 0x72, 0x13,
    0x33, 0xf3, 0xa0, 0x62, 0xf1, 0xc5, 0x25, 0x89, 0x45, 0x25, 0x3a, 0x0a, 0x06, 0x86, 0x46,
    0xc6, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0x33, 0x31, 0x35, 0x33, 0xb7, 0xb0, 0x54, 0xb0,
    0xb4, 0x30, 0x37, 0x33, 0x35, 0x31, 0x36, 0x32, 0x34, 0xe0, 0x02, 0x00, 0x07, 0x2a, 0x17,
    0xa9,
};

static const struct sample {
    const unsigned char *bytes;
    size_t size;
} samples[] = {
    {stored, sizeof(stored)},
    {fixed, sizeof(fixed)},
    {dynamic, sizeof(dynamic)},
    {flushed, sizeof(flushed)},
};

/* Of exactly its size, so that reading behind it is seen. */
static int unpack(const void *bytes, size_t size, size_t most, struct text *to)
{
    unsigned char *copy = malloc(size ? size : 1);

    CHECK(copy != NULL);
    memcpy(copy, bytes, size);
    int result = unpack_zlib(copy, size, most, to);
    free(copy);
    return result;
}

static void check_text(const void *bytes, size_t size, const char *expected)
{
    struct text text = {0};

    CHECK_NUMBER(unpack(bytes, size, PLENTY, &text), 0);
    CHECK_STRING(text.data, expected);
    CHECK_NUMBER(text.length, strlen(expected));
    text_free(&text);
}

static int result_of(const void *bytes, size_t size)
{
    struct text text = {0};
    int result = unpack(bytes, size, PLENTY, &text);

    text_free(&text);
    return result;
}

/* ---- streams of zlib */

static void streams_of_zlib(void)
{
    for (size_t i = 0; i < COUNT_OF(samples); i++)
        check_text(samples[i].bytes, samples[i].size, words);
}

static void behind_other_text(void)
{
    struct text text = {0};

    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        const struct sample *sample = &samples[i];
        text_clear(&text);
        text_add(&text, "before ");
        CHECK_NUMBER(unpack(sample->bytes, sample->size, strlen(words), &text), 0);
        CHECK(!strncmp(text.data, "before ", 7));
        CHECK_STRING(text.data + 7, words);
        CHECK_NUMBER(unpack(sample->bytes, sample->size, strlen(words) - 1, &text), -EFBIG);
        CHECK_NUMBER(unpack(sample->bytes, sample->size, 0, &text), -EFBIG);
        CHECK_NUMBER(unpack(sample->bytes, sample->size, SIZE_MAX, &text), 0);
    }
    text_free(&text);
}

static void every_truncation(void)
{
    for (size_t i = 0; i < COUNT_OF(samples); i++)
        for (size_t size = 0; size < samples[i].size; size++)
            CHECK_NUMBER(result_of(samples[i].bytes, size), -EBADMSG);
}

static void more_behind_it(void)
{
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        unsigned char bytes[256] = {0};
        memcpy(bytes, samples[i].bytes, samples[i].size);
        CHECK_NUMBER(result_of(bytes, samples[i].size + 1), -EBADMSG);
    }
}

/*
 * All other values of each byte. Adler-32 sees each change of one byte; but the head may promise
 * another window, and bits up to the end of a byte mean nothing.
 */
static void every_spoiled_byte(void)
{
    for (size_t i = 0; i < COUNT_OF(samples); i++)
        for (size_t at = 0; at < samples[i].size; at++)
            for (unsigned change = 1; change < 256; change++) {
                unsigned char bytes[256];
                struct text text = {0};
                memcpy(bytes, samples[i].bytes, samples[i].size);
                bytes[at] ^= (unsigned char)change;
                if (!unpack(bytes, samples[i].size, PLENTY, &text))
                    CHECK_STRING(text.data, words);
                text_free(&text);
            }
}

static void heads(void)
{
    static const struct {
        unsigned char head[2];
        int result;
    } known[] = {
        {{0x78, 0x01}, 0}, {{0x78, 0x9c}, 0}, {{0x78, 0xda}, 0}, {{0x08, 0x1d}, 0},
        {{0x78, 0x9d}, -EBADMSG}, {{0x88, 0x1c}, -EBADMSG}, {{0x79, 0x18}, -EBADMSG},
        {{0x77, 0x1f}, -EBADMSG}, {{0x1f, 0x8b}, -EBADMSG},
        {{0x78, 0xbb}, -EOPNOTSUPP}, /* a dictionary */
    };
    unsigned char bytes[sizeof(fixed)];

    memcpy(bytes, fixed, sizeof(fixed));
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        memcpy(bytes, known[i].head, 2);
        CHECK_NUMBER(result_of(bytes, sizeof(bytes)), known[i].result);
    }
}

/* ---- written by hand */

static unsigned char made[1 << 17];
static size_t made_bits;

static void begin(void)
{
    memset(made, 0, sizeof(made));
    memcpy(made, "\x78\x9c", 2);
    made_bits = 16;
}

/* A number, the low bit first. */
static void put(unsigned number, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++, made_bits++)
        made[made_bits / 8] |= (unsigned char)((number >> i & 1) << made_bits % 8);
}

/* A code: the high bit first. */
static void put_code(unsigned code, unsigned bits)
{
    while (bits--)
        put(code >> bits & 1, 1);
}

static int result_of_made(const char *text)
{
    uint32_t sum = 1, sums = 0;
    size_t size = (made_bits + 7) / 8;

    for (; *text; text++) {
        sum = (sum + (unsigned char)*text) % 65521;
        sums = (sums + sum) % 65521;
    }
    for (int i = 0; i < 4; i++)
        made[size + i] = (unsigned char)((sums << 16 | sum) >> (24 - 8 * i));
    return result_of(made, size + 4);
}

/*
 * The head of a dynamic block. The code of lengths has 4 bits for each of 0 to 15. Lengths are
 * letters: '.' is 0, a is 1, o is 15; the first two strings are for literals from 'a' and from 256.
 */
static void put_lengths(const char *letters, const char *from_256, const char *distances)
{
    unsigned literals = 256 + (unsigned)strlen(from_256);

    put(2, 2);
    put(literals - 257, 5);
    put((unsigned)strlen(distances) - 1, 5);
    put(15, 4);
    for (int i = 0; i < 19; i++)
        put(i < 3 ? 0 : 4, 3);
    for (unsigned i = 0; i < literals; i++) {
        char length = '.';
        if (i >= 256)
            length = from_256[i - 256];
        else if (i >= 'a' && i - 'a' < strlen(letters))
            length = letters[i - 'a'];
        put_code(length == '.' ? 0 : (unsigned)length - 'a' + 1, 4);
    }
    for (; *distances; distances++)
        put_code(*distances == '.' ? 0 : (unsigned)*distances - 'a' + 1, 4);
}

static void codes_that_may_be(void)
{
    /* a 0, b 10, end 11; no distances */
    begin();
    put(1, 1);
    put_lengths("ab", "b", ".");
    put_code(0, 3), put_code(2, 2), put_code(3, 2); /* a a a b end */
    CHECK_NUMBER(result_of_made("aaab"), 0);
    /* nothing but the end, with one bit; the other bit is nothing */
    for (unsigned bit = 0; bit < 2; bit++) {
        begin();
        put(1, 1);
        put_lengths("", "a", "a");
        put(bit, 1);
        CHECK_NUMBER(result_of_made(""), bit ? -EBADMSG : 0);
    }
    /* one distance of one bit: a, then 3 from 1 back */
    for (unsigned bit = 0; bit < 2; bit++) {
        begin();
        put(1, 1);
        put_lengths("a", "bb", "a"); /* a 0, end 10, length of three 11 */
        put_code(3, 3);              /* a, length */
        put(bit, 1);
        put_code(2, 2);
        CHECK_NUMBER(result_of_made("aaaa"), bit ? -EBADMSG : 0);
    }
    /* codes of 15 bits: a 0, b 10, ... o 15 ones but one, end 15 ones */
    begin();
    put(1, 1);
    put_lengths("abcdefghijklmno", "o", ".");
    for (unsigned i = 1; i <= 15; i++)
        put_code((1u << i) - 2, i);
    put_code(0x7fff, 15);
    CHECK_NUMBER(result_of_made("abcdefghijklmno"), 0);
}

static int result_of_lengths(const char *letters, const char *from_256, const char *distances)
{
    begin();
    put(1, 1);
    put_lengths(letters, from_256, distances);
    put(0, 20); /* of which some are the end where `from_256` is the first */
    return result_of_made("");
}

static void codes_that_cannot_be(void)
{
    CHECK_NUMBER(result_of_lengths("aa", "a", "."), -EBADMSG);  /* too many */
    CHECK_NUMBER(result_of_lengths("abb", "b", "."), -EBADMSG);
    CHECK_NUMBER(result_of_lengths("b", "b", "."), -EBADMSG);   /* too few */
    CHECK_NUMBER(result_of_lengths("", "b", "."), -EBADMSG);
    CHECK_NUMBER(result_of_lengths("", "o", "."), -EBADMSG);
    CHECK_NUMBER(result_of_lengths("aa", ".", "."), -EBADMSG);  /* no end */
    CHECK_NUMBER(result_of_lengths("a", "a", "aaa"), -EBADMSG); /* distances: too many */
    CHECK_NUMBER(result_of_lengths("a", "a", "b"), -EBADMSG);   /* too few */
    CHECK_NUMBER(result_of_lengths("a", "a", "bb"), -EBADMSG);
    CHECK_NUMBER(result_of_lengths("a", "a", "ab"), -EBADMSG);
    CHECK_NUMBER(result_of_lengths("abcdefghijklmno", "oo", "."), -EBADMSG);
}

/* HLIT of 287 and 288, HDIST of 31 and 32: no symbols are that many. */
static void too_many_symbols(void)
{
    for (unsigned literals = 29; literals < 32; literals++) {
        begin();
        put(5, 3);
        put(literals, 5);
        put(0, 5);
        put(15, 4);
        for (int i = 0; i < 19; i++)
            put(i < 3 ? 0 : 4, 3);
        for (unsigned i = 0; i < 257 + literals + 1; i++)
            put_code(i == 256, 4);
        put(0, 1);
        CHECK_NUMBER(result_of_made(""), literals == 29 ? 0 : -EBADMSG);
    }
    for (unsigned distances = 29; distances < 32; distances++) {
        begin();
        put(5, 3);
        put(0, 5);
        put(distances, 5);
        put(15, 4);
        for (int i = 0; i < 19; i++)
            put(i < 3 ? 0 : 4, 3);
        for (unsigned i = 0; i < 257 + distances + 1; i++)
            put_code(i == 256, 4);
        put(0, 1);
        CHECK_NUMBER(result_of_made(""), distances == 29 ? 0 : -EBADMSG);
    }
}

/* The code of lengths: 18 has 0, 16 has 10, and `third` has 11. */
static void put_repeating_head(unsigned third)
{
    static const unsigned char order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5,
                                          11, 4, 12, 3, 13, 2, 14, 1, 15};

    begin();
    put(5, 3);
    put(0, 5);
    put(0, 5);
    put(15, 4);
    for (size_t i = 0; i < COUNT_OF(order); i++)
        put(order[i] == 18 ? 1 : order[i] == 16 || order[i] == third ? 2 : 0, 3);
}

static void repeated_lengths(void)
{
    /* 138 and 118 zeros, one 1 for the end, one for distances: 1 comes before 16 */
    put_repeating_head(1);
    put(0, 1), put(127, 7), put(0, 1), put(107, 7);
    put_code(2, 2), put_code(2, 2);
    put(0, 1);
    CHECK_NUMBER(result_of_made(""), 0);
    /* 16 at the very start */
    put_repeating_head(1);
    put_code(3, 2), put(0, 2);
    CHECK_NUMBER(result_of_made(""), -EBADMSG);
    /* more than there are: 138, 118, then three of the last */
    put_repeating_head(1);
    put(0, 1), put(127, 7), put(0, 1), put(107, 7);
    put_code(3, 2), put(0, 2);
    CHECK_NUMBER(result_of_made(""), -EBADMSG);
    put_repeating_head(1);
    put(0, 1), put(127, 7), put(0, 1), put(127, 7);
    CHECK_NUMBER(result_of_made(""), -EBADMSG);
    /* a code of lengths that is not whole: 18 alone, with one bit */
    begin();
    put(5, 3), put(0, 5), put(0, 5), put(0, 4);
    put(0, 3), put(0, 3), put(1, 3), put(0, 3);
    put(0, 1), put(127, 7), put(0, 1), put(109, 7);
    CHECK_NUMBER(result_of_made(""), -EBADMSG);
    /* none at all */
    begin();
    put(5, 3), put(0, 5), put(0, 5), put(0, 4), put(0, 12);
    CHECK_NUMBER(result_of_made(""), -EBADMSG);
}

static void put_fixed(unsigned symbol)
{
    if (symbol < 144)
        put_code(0x30 + symbol, 8);
    else if (symbol < 256)
        put_code(0x190 + symbol - 144, 9);
    else if (symbol < 280)
        put_code(symbol - 256, 7);
    else
        put_code(0xc0 + symbol - 280, 8);
}

/* Each length and each distance, by the table of RFC 1951 */
static void lengths_and_distances(void)
{
    static const struct {
        unsigned short first;
        unsigned char bits;
    } lengths[] = {{3, 0},   {4, 0},   {5, 0},   {6, 0},   {7, 0},  {8, 0},  {9, 0},  {10, 0},
                   {11, 1},  {13, 1},  {15, 1},  {17, 1},  {19, 2}, {23, 2}, {27, 2}, {31, 2},
                   {35, 3},  {43, 3},  {51, 3},  {59, 3},  {67, 4}, {83, 4}, {99, 4}, {115, 4},
                   {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}},
      distances[] = {{1, 0},      {2, 0},      {3, 0},      {4, 0},     {5, 1},     {7, 1},
                     {9, 2},      {13, 2},     {17, 3},     {25, 3},    {33, 4},    {49, 4},
                     {65, 5},     {97, 5},     {129, 6},    {193, 6},   {257, 7},   {385, 7},
                     {513, 8},    {769, 8},    {1025, 9},   {1537, 9},  {2049, 10}, {3073, 10},
                     {4097, 11},  {6145, 11},  {8193, 12},  {12289, 12}, {16385, 13}, {24577, 13}};
    static char text[2 * 32768 + 2 * 30 * 258 + 1];

    /* 32768 bytes that are not packed, then of each the least and the greatest */
    begin();
    put(0, 3), put(0, 5), put(0x8000, 16), put(0x7fff, 16);
    size_t size = 0;
    for (; size < 0x8000; size++)
        put((unsigned char)(text[size] = (char)('a' + size * size % 23)), 8);
    put(3, 3);
    for (unsigned i = 0; i < 60; i++) {
        unsigned which = i / 2 % 29, far = i / 2, most = i % 2;
        unsigned length = lengths[which].first + (most ? (1u << lengths[which].bits) - 1 : 0);
        unsigned distance = distances[far].first + (most ? (1u << distances[far].bits) - 1 : 0);
        put_fixed(257 + which);
        put(most ? UINT32_MAX : 0, lengths[which].bits);
        put_code(far, 5);
        put(most ? UINT32_MAX : 0, distances[far].bits);
        for (; length--; size++)
            text[size] = text[size - distance];
    }
    put_fixed(256);
    CHECK_NUMBER(result_of_made(text), 0);
    check_text(made, (made_bits + 7) / 8 + 4, text);
}

static void symbols_of_fixed_codes(void)
{
    /* a, then a repeat by `symbol` from as far as `distance` says */
    static const struct {
        unsigned symbol, distance;
        int result;
    } known[] = {
        {257, 0, 0}, {257, 1, -EBADMSG}, {286, 0, -EBADMSG}, {287, 0, -EBADMSG},
        {257, 30, -EBADMSG}, {257, 31, -EBADMSG},
    };

    for (size_t i = 0; i < COUNT_OF(known); i++) {
        begin();
        put(3, 3);
        put_fixed('a');
        put_fixed(known[i].symbol);
        put_code(known[i].distance, 5);
        put_fixed(256);
        CHECK_NUMBER(result_of_made("aaaa"), known[i].result);
    }
}

static void kinds_of_blocks(void)
{
    /* stored ones, of which the first is empty; what fills its byte means nothing */
    begin();
    put(0xf0, 8), put(0, 16), put(0xffff, 16);
    put(1, 8), put(2, 16), put(0xfffd, 16), put('h', 8), put('i', 8);
    CHECK_NUMBER(result_of_made("hi"), 0);
    /* its length and what should be the opposite of it */
    for (unsigned bit = 0; bit < 16; bit++) {
        begin();
        put(1, 8), put(1, 16), put(0xfffe ^ 1u << bit, 16), put('h', 8);
        CHECK_NUMBER(result_of_made("h"), -EBADMSG);
    }
    begin();
    put(7, 3);
    CHECK_NUMBER(result_of_made(""), -EBADMSG);
    /* fixed, dynamic and fixed once more: codes of one are not those of the other */
    begin();
    put(2, 3), put_fixed('x'), put_fixed(256);
    put(0, 1), put_lengths("ab", "b", "."), put_code(0, 1), put_code(3, 2);
    put(3, 3), put_fixed('y'), put_fixed(256);
    CHECK_NUMBER(result_of_made("xay"), 0);
}

int main(void)
{
    TEST(streams_of_zlib);
    TEST(behind_other_text);
    TEST(every_truncation);
    TEST(more_behind_it);
    TEST(every_spoiled_byte);
    TEST(heads);
    TEST(codes_that_may_be);
    TEST(codes_that_cannot_be);
    TEST(too_many_symbols);
    TEST(repeated_lengths);
    TEST(lengths_and_distances);
    TEST(symbols_of_fixed_codes);
    TEST(kinds_of_blocks);
    return tests_done();
}
