/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unpack/inflate.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "unpack/codes.h"

#define END_OF_BLOCK 256
#define MOST_LITERALS 286
#define MOST_DISTANCES 30
#define LENGTH_SYMBOLS 19 /* of the code in which codes' lengths are written */
#define LONGEST_REPEAT 258

struct inflating {
    struct bits bits;
    struct sink *sink;
    size_t start; /* where in the text repeats may begin */
    bool has_fixed;
    struct codes fixed_literals, fixed_distances, literals, distances, lengths;
};

/* 0 or -EBADMSG: a last byte that is not there may leave nothing. */
static int stored_block(struct inflating *now)
{
    struct source head;

    bits_end(&now->bits);
    if (!source_take(now->bits.source, 4, &head) ||
        low_first(head.at, 2) != (uint16_t)~low_first(head.at + 2, 2))
        return -EBADMSG;
    return sink_move(now->sink, now->bits.source, (size_t)low_first(head.at, 2));
}

/* The fixed codes. */
static void make_fixed(struct inflating *now)
{
    unsigned char lengths[CODES_MOST];

    if (now->has_fixed)
        return;
    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    codes_make(&now->fixed_literals, lengths, CODES_MOST, false);
    memset(lengths, 5, 32);
    codes_make(&now->fixed_distances, lengths, 32, false);
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

static int repeat(struct inflating *now, unsigned symbol, const struct codes *distances)
{
    struct bits *bits = &now->bits;
    struct text *text = now->sink->text;

    if (symbol > 28)
        return -EBADMSG;
    unsigned length = take_length(bits, symbol);
    int which = codes_take(distances, bits);
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

static int coded_block(struct inflating *now, const struct codes *literals,
                       const struct codes *distances)
{
    struct text *text = now->sink->text;
    struct bits *bits = &now->bits;
    int symbol, result = 0;

    do {
        bits_fill(bits);
        symbol = codes_take(literals, bits);
        if (symbol < 0 || bits->is_cut)
            return -EBADMSG;
        if (symbol < END_OF_BLOCK) {
            result = sink_reserve(now->sink, 1);
            if (!result)
                text->data[text->length++] = (char)symbol;
        } else if (symbol > END_OF_BLOCK) {
            result = repeat(now, (unsigned)symbol - END_OF_BLOCK - 1, distances);
        }
    } while (!result && symbol != END_OF_BLOCK);
    return result;
}

static int block(struct inflating *now, unsigned kind)
{
    int result;

    switch (kind) {
    case 0:
        return stored_block(now);
    case 1:
        make_fixed(now);
        return coded_block(now, &now->fixed_literals, &now->fixed_distances);
    case 2:
        result = make_dynamic(now);
        return result ? result : coded_block(now, &now->literals, &now->distances);
    default:
        return -EBADMSG;
    }
}

int inflate(struct source *source, struct sink *sink)
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
