/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Deflate, written bit by bit: zlib 1.2.13 agrees on each stream. */
#include "unit/unpacking.h"

static unsigned char made[1 << 17];
static size_t made_bits;

static void begin(void)
{
    memset(made, 0, sizeof(made));
    memcpy(made, "\x78\x9c", 2);
    made_bits = 16;
}

/* Appends a number, lowest bit first. */
static void put(unsigned number, unsigned bits)
{
    for (unsigned i = 0; i < bits; i++, made_bits++)
        made[made_bits / 8] |= (unsigned char)((number >> i & 1) << made_bits % 8);
}

/* Appends a Huffman code, highest bit first. */
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
    return result_of(unpack_zlib, made, size + 4);
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

TEST(codes_that_may_be)
{
    /* a 0, b 10, end 11; no distances */
    begin();
    put(1, 1);
    put_lengths("ab", "b", ".");
    put_code(0, 3), put_code(2, 2), put_code(3, 2); /* a a a b end */
    CHECK_NUMBER(result_of_made("aaab"), 0);
    /* only the end code, with one bit; the other bit is unused */
    for (unsigned bit = 0; bit < 2; bit++) {
        begin();
        put(1, 1);
        put_lengths("", "a", "a");
        put(bit, 1);
        CHECK_NUMBER(result_of_made(""), bit ? -EBADMSG : 0);
    }
    /* one distance with one bit: a, then 3 from 1 back */
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
    put(0, 20); /* of which some are the end code if `from_256` comes first */
    return result_of_made("");
}

TEST(codes_that_cannot_be)
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

/* HLIT of 287 and 288, HDIST of 31 and 32: there are not that many symbols. */
TEST(too_many_symbols)
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

TEST(repeated_lengths)
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
    /* an incomplete code of lengths: only 18, with one bit */
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

/* Each length and each distance, by the table in RFC 1951 */
TEST(lengths_and_distances)
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

    /* 32768 uncompressed bytes, then the least and the greatest of each */
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
    check_text(unpack_zlib, made, (made_bits + 7) / 8 + 4, text);
}

TEST(symbols_of_fixed_codes)
{
    /* a, then a repeat by `symbol` from `distance` back */
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

TEST(kinds_of_blocks)
{
    /* stored ones, the first empty; its padding bits mean nothing */
    begin();
    put(0xf0, 8), put(0, 16), put(0xffff, 16);
    put(1, 8), put(2, 16), put(0xfffd, 16), put('h', 8), put('i', 8);
    CHECK_NUMBER(result_of_made("hi"), 0);
    /* its length, and what should be its complement */
    for (unsigned bit = 0; bit < 16; bit++) {
        begin();
        put(1, 8), put(1, 16), put(0xfffe ^ 1u << bit, 16), put('h', 8);
        CHECK_NUMBER(result_of_made("h"), -EBADMSG);
    }
    begin();
    put(7, 3);
    CHECK_NUMBER(result_of_made(""), -EBADMSG);
    /* fixed, dynamic, and fixed again: codes of one are not those of the other */
    begin();
    put(2, 3), put_fixed('x'), put_fixed(256);
    put(0, 1), put_lengths("ab", "b", "."), put_code(0, 1), put_code(3, 2);
    put(3, 3), put_fixed('y'), put_fixed(256);
    CHECK_NUMBER(result_of_made("xay"), 0);
}

TEST_MAIN
