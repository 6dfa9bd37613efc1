/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "unpack/unpack.h"

#define CODES_LONGEST 15
#define CODES_MOST 288
#define CODES_SHORT_BITS 10

/* A bit reader, low bits first. Reading past the end gives zeros, and sets `is_cut`. */
struct bits {
    struct source *source;
    uint64_t held;
    unsigned count; /* of those held */
    bool is_cut;
};

struct codes {
    uint16_t counts[CODES_LONGEST + 1];  /* of codes by their length */
    uint16_t symbols[CODES_MOST];        /* in the order of their codes */
    uint16_t quick[1 << CODES_SHORT_BITS]; /* symbol and length; 0: the code is longer */
};

#define LENGTH_BITS 4 /* of an entry in `quick` */
#define ENOUGH_BITS 48

/* Afterwards it holds at least 48 bits, if the source has as many. */
static void bits_fill(struct bits *bits)
{
    for (; bits->count <= ENOUGH_BITS && bits->source->left; bits->count += 8) {
        bits->held |= (uint64_t)*bits->source->at++ << bits->count;
        bits->source->left--;
    }
}

/* Takes `count` of the held bits, as a number. */
static unsigned bits_take(struct bits *bits, unsigned count)
{
    unsigned number = (unsigned)bits->held & ((1u << count) - 1);

    if (count > bits->count) {
        bits->is_cut = true;
        count = bits->count;
    }
    bits->held >>= count;
    bits->count -= count;
    return number;
}

/* Gives back whole bytes that are held but unused, and drops bits up to the next byte. */
static void bits_end(struct bits *bits)
{
    unsigned bytes = bits->count / 8;

    bits->source->at -= bytes;
    bits->source->left += bytes;
    bits->held = bits->count = 0;
}

/* Enters a short code, with its first bit lowest, for all bits that may follow it. */
static void put_quick(struct codes *codes, unsigned code, unsigned length, unsigned symbol)
{
    unsigned reversed = 0;

    for (unsigned i = 0; i < length; i++)
        reversed |= (code >> i & 1) << (length - 1 - i);
    for (; reversed < COUNT_OF(codes->quick); reversed += 1u << length)
        codes->quick[reversed] = (uint16_t)(symbol << LENGTH_BITS | length);
}

/* How many codes of the greatest length stay unused: negative if the lengths are impossible. */
static int unused(const struct codes *codes)
{
    int left = 1;

    for (unsigned length = 1; length <= CODES_LONGEST && left >= 0; length++)
        left = left * 2 - codes->counts[length];
    return left;
}

static void sort(struct codes *codes, const unsigned char *lengths, unsigned count)
{
    unsigned places[CODES_LONGEST + 1], code = 0, place = 0;

    /* Where each length's codes begin among the symbols; codes of one length are consecutive. */
    places[0] = 0;
    for (unsigned length = 1; length <= CODES_LONGEST; length++) {
        places[length] = place;
        place += codes->counts[length];
    }
    for (unsigned symbol = 0; symbol < count; symbol++)
        if (lengths[symbol])
            codes->symbols[places[lengths[symbol]]++] = (uint16_t)symbol;
    place = 0;
    for (unsigned length = 1; length <= CODES_SHORT_BITS; length++, code <<= 1)
        for (unsigned i = 0; i < codes->counts[length]; i++)
            put_quick(codes, code++, length, codes->symbols[place++]);
}

/*
 * Makes codes for `count` symbols by their lengths; 0: the symbol has none. -EBADMSG if the lengths
 * are impossible or leave codes unused; with `may_lack` there may be one code of one bit, or none.
 */
static int codes_make(struct codes *codes, const unsigned char *lengths, unsigned count,
                      bool may_lack)
{
    memset(codes, 0, sizeof(*codes));
    for (unsigned symbol = 0; symbol < count; symbol++)
        if (lengths[symbol])
            codes->counts[lengths[symbol]]++;
    int left = unused(codes);
    bool is_alone = left == 1 << CODES_LONGEST ||
                    (codes->counts[1] == 1 && left == 1 << (CODES_LONGEST - 1));
    if (left < 0 || (left && !(may_lack && is_alone)))
        return -EBADMSG;
    sort(codes, lengths, count);
    return 0;
}

/* Codes of a length are consecutive numbers, below those with which longer ones begin. */
static int take_long(const struct codes *codes, struct bits *bits)
{
    unsigned code = 0, first = 0, place = 0;

    for (unsigned length = 1; length <= CODES_LONGEST; length++) {
        code = code << 1 | bits_take(bits, 1);
        if (code - first < codes->counts[length])
            return codes->symbols[place + code - first];
        place += codes->counts[length];
        first = (first + codes->counts[length]) << 1;
    }
    return -EBADMSG;
}

/* The next symbol, from the bits held; -EBADMSG: no symbol has this code. */
static int codes_take(const struct codes *codes, struct bits *bits)
{
    unsigned entry = codes->quick[bits->held & (COUNT_OF(codes->quick) - 1)];

    if (!entry)
        return take_long(codes, bits);
    bits_take(bits, entry & ((1 << LENGTH_BITS) - 1));
    return (int)(entry >> LENGTH_BITS);
}

#define END_OF_BLOCK 256
#define MOST_LITERALS 286
#define MOST_DISTANCES 30
#define LENGTH_SYMBOLS 19 /* of the code in which codes' lengths are written */
#define LONGEST_REPEAT 258

struct inflating {
    struct bits bits;
    struct sink *sink;
    size_t start; /* where in the text repeats may begin */
    bool has_fixed; /* the fixed codes, as the last block with codes */
    struct codes literals, distances, lengths;
};

/* Copies a block that is not compressed: 0, -EBADMSG, or the error of sink_move(). */
static int stored_block(struct inflating *now)
{
    struct source head;

    bits_end(&now->bits);
    if (!source_take(now->bits.source, 4, &head) ||
        low_first(head.at, 2) != (uint16_t)~low_first(head.at + 2, 2))
        return -EBADMSG;
    return sink_move(now->sink, now->bits.source, (size_t)low_first(head.at, 2));
}

/* Makes the codes of fixed blocks, unless they are in place. */
static void make_fixed(struct inflating *now)
{
    unsigned char lengths[CODES_MOST];

    if (now->has_fixed)
        return;
    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    codes_make(&now->literals, lengths, CODES_MOST, false);
    memset(lengths, 5, 32);
    codes_make(&now->distances, lengths, 32, false);
    now->has_fixed = true;
}

/* Lengths of `count` codes, themselves encoded: 16 repeats the last, 17 and 18 are zeros. */
static int read_lengths(struct inflating *now, unsigned char *lengths, unsigned count)
{
    struct bits *bits = &now->bits;

    for (unsigned i = 0; i < count;) {
        bits_fill(bits);
        int symbol = codes_take(&now->lengths, bits);
        if (symbol < 0 || bits->is_cut)
            return -EBADMSG;
        if (symbol < 16) {
            lengths[i++] = (unsigned char)symbol;
            continue;
        }
        unsigned times = symbol == 16 ? 3 + bits_take(bits, 2)
                         : symbol == 17 ? 3 + bits_take(bits, 3)
                                        : 11 + bits_take(bits, 7);
        if (times > count - i || (symbol == 16 && !i))
            return -EBADMSG;
        memset(lengths + i, symbol == 16 ? lengths[i - 1] : 0, times);
        i += times;
    }
    return 0;
}

static int make_dynamic(struct inflating *now)
{
    static const unsigned char order[LENGTH_SYMBOLS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                        11, 4,  12, 3, 13, 2, 14, 1, 15};
    unsigned char lengths[MOST_LITERALS + MOST_DISTANCES] = {0};
    struct bits *bits = &now->bits;

    now->has_fixed = false;
    unsigned literals = 257 + bits_take(bits, 5), distances = 1 + bits_take(bits, 5);
    unsigned count = 4 + bits_take(bits, 4);
    if (literals > MOST_LITERALS || distances > MOST_DISTANCES)
        return -EBADMSG;
    for (unsigned i = 0; i < count; i++) {
        bits_fill(bits);
        lengths[order[i]] = (unsigned char)bits_take(bits, 3);
    }
    if (codes_make(&now->lengths, lengths, LENGTH_SYMBOLS, false) ||
        read_lengths(now, lengths, literals + distances) || !lengths[END_OF_BLOCK] ||
        codes_make(&now->literals, lengths, literals, true) ||
        codes_make(&now->distances, lengths + literals, distances, true))
        return -EBADMSG;
    return 0;
}

/* 3 to 10 one by one, then four symbols per power of two; the last is just 258. */
static unsigned take_length(struct bits *bits, unsigned symbol)
{
    if (symbol < 8)
        return 3 + symbol;
    if (symbol == 28)
        return LONGEST_REPEAT;
    unsigned more = symbol / 4 - 1;
    return 3 + ((4 | (symbol & 3)) << more) + bits_take(bits, more);
}

/* 1 to 4 one by one, then two symbols per power of two. */
static unsigned take_distance(struct bits *bits, unsigned symbol)
{
    if (symbol < 4)
        return 1 + symbol;
    unsigned more = symbol / 2 - 1;
    return 1 + ((2 | (symbol & 1)) << more) + bits_take(bits, more);
}

static int repeat(struct inflating *now, unsigned symbol)
{
    struct bits *bits = &now->bits;
    struct text *text = now->sink->text;

    if (symbol > 28)
        return -EBADMSG;
    unsigned length = take_length(bits, symbol);
    int which = codes_take(&now->distances, bits);
    if (which < 0 || which >= MOST_DISTANCES)
        return -EBADMSG;
    unsigned distance = take_distance(bits, (unsigned)which);
    if (bits->is_cut || distance > text->length - now->start)
        return -EBADMSG;
    int result = sink_reserve(now->sink, length);
    if (!result)
        sink_repeat(text, distance, length);
    return result;
}

static int coded_block(struct inflating *now)
{
    struct text *text = now->sink->text;
    struct bits *bits = &now->bits;
    int symbol, result = 0;

    do {
        bits_fill(bits);
        symbol = codes_take(&now->literals, bits);
        if (symbol < 0 || bits->is_cut)
            return -EBADMSG;
        if (symbol < END_OF_BLOCK) {
            result = sink_reserve(now->sink, 1);
            if (!result)
                text->data[text->length++] = (char)symbol;
        } else if (symbol > END_OF_BLOCK) {
            result = repeat(now, (unsigned)symbol - END_OF_BLOCK - 1);
        }
    } while (!result && symbol != END_OF_BLOCK);
    return result;
}

static int block(struct inflating *now, unsigned kind)
{
    switch (kind) {
    case 0: return stored_block(now);
    case 1:
        make_fixed(now);
        return coded_block(now);
    case 2: return make_dynamic(now) ? -EBADMSG : coded_block(now);
    default: return -EBADMSG;
    }
}

/*
 * Inflates up to the last block; the source is then past it. Repeats do not reach into what was in
 * the sink before. 0, -EBADMSG, -EFBIG, -ENOMEM.
 */
static int inflate(struct source *source, struct sink *sink)
{
    struct inflating *now = malloc(sizeof(*now));
    bool is_last = false;
    int result = 0;

    if (!now)
        return -ENOMEM;
    now->bits = (struct bits){.source = source};
    now->sink = sink;
    now->start = sink->text->length;
    now->has_fixed = false;
    while (!result && !is_last) {
        bits_fill(&now->bits);
        is_last = bits_take(&now->bits, 1);
        unsigned kind = bits_take(&now->bits, 2);
        result = now->bits.is_cut ? -EBADMSG : block(now, kind);
    }
    bits_end(&now->bits);
    free(now);
    return result;
}

/* Two bytes of header, deflate, and a checksum. */

#define DEFLATE 8
#define WIDEST_WINDOW 7 /* 32 KB */
#define HAS_DICTIONARY 0x20
#define ADLER_PRIME 65521
#define ADLER_UNCUT 5552 /* the sums of that many bytes fit into 32 bits */

static uint32_t adler32(const char *data, size_t length)
{
    const unsigned char *at = (const unsigned char *)data;
    uint32_t sum = 1, sums = 0;

    while (length) {
        size_t bytes = length < ADLER_UNCUT ? length : ADLER_UNCUT;
        for (length -= bytes; bytes--; at++) {
            sum += *at;
            sums += sum;
        }
        sum %= ADLER_PRIME;
        sums %= ADLER_PRIME;
    }
    return sums << 16 | sum;
}

/* The window size is not enforced: all output is kept, and zlib does not check it, either. */
static int read_head(struct source *source)
{
    struct source head;

    if (!source_take(source, 2, &head) || (head.at[0] << 8 | head.at[1]) % 31 ||
        (head.at[0] & 0xf) != DEFLATE || head.at[0] >> 4 > WIDEST_WINDOW)
        return -EBADMSG;
    return head.at[1] & HAS_DICTIONARY ? -EOPNOTSUPP : 0;
}

int unpack_zlib(const unsigned char *packed, size_t size, size_t most, struct text *to)
{
    struct source source = {packed, size}, tail;
    size_t start = to->length;
    struct sink sink;

    int result = sink_open(&sink, to, most);
    if (!result)
        result = read_head(&source);
    if (!result)
        result = inflate(&source, &sink);
    if (result)
        return result;
    to->data[to->length] = '\0';
    if (!source_take(&source, 4, &tail) || source.left ||
        __builtin_bswap32((uint32_t)low_first(tail.at, 4)) !=
            adler32(to->data + start, to->length - start))
        return -EBADMSG;
    return 0;
}
