/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unpack/unpack.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

#define CHANCE_BITS 11
#define EVEN_CHANCE (1 << (CHANCE_BITS - 1))
#define LEARNING 5 /* a probability moves towards what happened by 1/2 to this power */
#define LONGEST_REPEAT 273

/* The inner loop: its few values must stay in registers, even with -Os. */
#define HEART static inline __attribute__((always_inline))

struct range {
    const unsigned char *at, *end;
    uint32_t width, code;
    bool is_cut; /* the source ended early: zeros were read instead */
};

HEART void widen(struct range *range)
{
    if (range->width >> 24)
        return;
    range->width <<= 8;
    range->code <<= 8;
    if (range->at < range->end)
        range->code |= *range->at++;
    else
        range->is_cut = true;
}

HEART unsigned take_bit(struct range *range, uint16_t *chance)
{
    widen(range);
    uint32_t bound = (range->width >> CHANCE_BITS) * *chance;
    if (range->code < bound) {
        range->width = bound;
        *chance = (uint16_t)(*chance + (((1 << CHANCE_BITS) - *chance) >> LEARNING));
        return 0;
    }
    range->width -= bound;
    range->code -= bound;
    *chance = (uint16_t)(*chance - (*chance >> LEARNING));
    return 1;
}

/* Decodes a number below `size`, high bit first; the bits so far choose the probability. */
HEART unsigned take_tree(struct range *range, uint16_t *chances, unsigned size)
{
    unsigned number = 1;

    while (number < size)
        number = number << 1 | take_bit(range, &chances[number]);
    return number - size;
}

/* The same, low bit first. */
HEART uint32_t take_low_first(struct range *range, uint16_t *chances, unsigned bits)
{
    uint32_t number = 0;

    for (unsigned i = 0, node = 1; i < bits; i++) {
        unsigned bit = take_bit(range, &chances[node]);
        node = node << 1 | bit;
        number |= bit << i;
    }
    return number;
}

/* Decodes bits without a model. */
HEART uint32_t take_even(struct range *range, unsigned bits)
{
    uint32_t number = 0;

    while (bits--) {
        widen(range);
        range->width >>= 1;
        uint32_t bit = range->code >= range->width;
        range->code -= range->width & (0 - bit);
        number = number << 1 | bit;
    }
    return number;
}

HEART unsigned take_length(struct range *range, struct lzma_lengths *lengths, unsigned alignment)
{
    uint16_t *chances = lengths->low[alignment];
    unsigned least = 2, size = 8;

    if (take_bit(range, &lengths->is_middle)) {
        chances = lengths->middle[alignment];
        least = 10;
        if (take_bit(range, &lengths->is_high)) {
            chances = lengths->high;
            least = 18;
            size = 256;
        }
    }
    return least + take_tree(range, chances, size);
}

/*
 * One symbol has the distance's highest two bits and the number of further bits, which chooses how
 * these are decoded.
 */
HEART uint32_t take_distance(struct range *range, struct lzma_chances *chances, unsigned length)
{
    unsigned magnitude = take_tree(range, chances->magnitude[length < 6 ? length - 2 : 3], 64);

    if (magnitude < 4)
        return magnitude;
    unsigned bits = (magnitude >> 1) - 1;
    uint32_t distance = (2 | (magnitude & 1)) << bits;
    uint16_t *low = chances->low;
    if (magnitude < 14) {
        low = chances->middle[magnitude - 4];
    } else {
        distance |= take_even(range, bits - 4) << 4;
        bits = 4;
    }
    return distance | take_low_first(range, low, bits);
}

/*
 * Decodes a literal's bits with the probabilities for the byte that would have continued the last
 * repeat, until a bit differs. Returns the bits so far.
 */
HEART unsigned take_expected(struct range *range, uint16_t *chances, unsigned other)
{
    unsigned literal = 1, bit, expected;

    do {
        other <<= 1;
        expected = other & 0x100;
        bit = take_bit(range, &chances[0x100 + expected + literal]);
        literal = literal << 1 | bit;
    } while (literal < 256 && bit == expected >> 8);
    return literal;
}

/* Moves one of the older distances to the front. */
HEART void take_older(struct range *range, struct lzma *lzma, unsigned state)
{
    unsigned which = 1;

    if (take_bit(range, &lzma->chances.is_third[state]))
        which = 2 + take_bit(range, &lzma->chances.is_fourth[state]);
    uint32_t distance = lzma->distances[which];
    for (; which; which--)
        lzma->distances[which] = lzma->distances[which - 1];
    lzma->distances[0] = distance;
}

/* Returns a repeat's length, and puts its distance in front. */
HEART unsigned take_repeat(struct range *range, struct lzma *lzma, unsigned alignment)
{
    struct lzma_chances *chances = &lzma->chances;
    struct lzma_lengths *lengths = &chances->far;
    unsigned state = lzma->state;
    bool is_known = take_bit(range, &chances->is_known[state]);

    if (is_known) {
        lengths = &chances->near;
        if (take_bit(range, &chances->is_older[state])) {
            take_older(range, lzma, state);
        } else if (!take_bit(range, &chances->is_longer[state][alignment])) {
            lzma->state = state < 7 ? 9 : 11;
            return 1;
        }
    }
    lzma->state = state < 7 ? 7 + is_known : 10 + is_known;
    unsigned length = take_length(range, lengths, alignment);
    if (!is_known) {
        for (unsigned i = 3; i; i--)
            lzma->distances[i] = lzma->distances[i - 1];
        lzma->distances[0] = take_distance(range, chances, length);
    }
    return length;
}

static bool begin_range(struct range *range, const struct source *source)
{
    *range = (struct range){.at = source->at, .end = source->at + source->left,
                            .width = UINT32_MAX};
    if (source->left < 5 || *range->at++)
        return false;
    for (int i = 0; i < 4; i++)
        range->code = range->code << 8 | *range->at++;
    return true;
}

HEART void put_literal(struct range *range, struct lzma *lzma, struct text *text)
{
    const unsigned char *end = (const unsigned char *)text->data + text->length;
    size_t place = text->length - lzma->start;
    unsigned before = place ? end[-1] : 0, state = lzma->state, literal = 1;
    unsigned which = ((unsigned)place & ((1u << lzma->place_bits) - 1)) << lzma->before_bits |
                     before >> (8 - lzma->before_bits);
    uint16_t *chances = &lzma->chances.literal[LZMA_LITERAL_CHANCES * which];

    /* Only a repeat leads to such a state, and is_in_reach() has checked its distance. */
    if (state >= 7)
        literal = take_expected(range, chances, *(end - (size_t)lzma->distances[0] - 1));
    while (literal < 256)
        literal = literal << 1 | take_bit(range, &chances[literal]);
    lzma->state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
    text->data[text->length++] = (char)literal;
}

static bool is_in_reach(const struct lzma *lzma, const struct text *text)
{
    return lzma->distances[0] < text->length - lzma->start &&
           lzma->distances[0] < lzma->dictionary;
}

/* The source must yield exactly `bytes` bytes, and be used up. */
static int decode(struct lzma *lzma, struct source source, struct sink *sink, size_t bytes)
{
    struct text *text = sink->text;
    struct range range;
    unsigned alignments = (1u << lzma->alignment_bits) - 1;

    if (!begin_range(&range, &source))
        return -EBADMSG;
    for (size_t length; bytes && !range.is_cut; bytes -= length) {
        unsigned alignment = (unsigned)(text->length - lzma->start) & alignments;
        if (text->room - text->length <= LONGEST_REPEAT) {
            int result = sink_reserve(sink, bytes < LONGEST_REPEAT ? bytes : LONGEST_REPEAT);
            if (result)
                return result;
        }
        if (!take_bit(&range, &lzma->chances.is_repeat[lzma->state][alignment])) {
            put_literal(&range, lzma, text);
            length = 1;
            continue;
        }
        length = take_repeat(&range, lzma, alignment);
        if (length > bytes || !is_in_reach(lzma, text))
            return -EBADMSG;
        sink_repeat(text, (size_t)lzma->distances[0] + 1, length);
    }
    widen(&range);
    return range.is_cut || range.at != range.end || range.code ? -EBADMSG : 0;
}

/* The byte that says how many bits the contexts have. 0 or -EBADMSG. */
static int set_properties(struct lzma *lzma, unsigned char byte)
{
    lzma->before_bits = byte % 9;
    lzma->place_bits = byte / 9 % 5;
    lzma->alignment_bits = byte / 45;
    return lzma->alignment_bits > 4 ||
           lzma->before_bits + lzma->place_bits > LZMA_MOST_LITERAL_BITS ? -EBADMSG : 0;
}

/* Resets the model, the state and the distances. */
static void reset(struct lzma *lzma)
{
    const uint16_t four[4] = {EVEN_CHANCE, EVEN_CHANCE, EVEN_CHANCE, EVEN_CHANCE};
    unsigned char *chances = (unsigned char *)&lzma->chances;
    size_t size = offsetof(struct lzma_chances, literal) +
                  (sizeof(*lzma->chances.literal) * LZMA_LITERAL_CHANCES
                   << (lzma->before_bits + lzma->place_bits));

    _Static_assert(offsetof(struct lzma_chances, literal) % sizeof(four) == 0, "whole fours");
    for (size_t i = 0; i < size; i += sizeof(four))
        memcpy(chances + i, four, sizeof(four));
    lzma->state = 0;
    memset(lzma->distances, 0, sizeof(lzma->distances));
}

/* The first byte of a chunk. */
enum {
    END = 0,
    PLAIN_AND_START = 1, /* plain bytes; nothing before them is used */
    PLAIN = 2,
    PACKED = 0x80,       /* from here on, the low five bits are part of the size */
    RESET = 0xa0,
    PROPERTIES = 0xc0,   /* and reset */
    START = 0xe0,        /* and properties */
};

/* What the next chunk must still bring. */
struct needs {
    bool start, properties;
};

static int decode_plain(struct source *source, struct sink *sink)
{
    struct source head;

    if (!source_take(source, 2, &head))
        return -EBADMSG;
    return sink_move(sink, source, (size_t)(head.at[0] << 8 | head.at[1]) + 1);
}

static int decode_packed(struct lzma *lzma, unsigned control, struct source *source,
                         struct sink *sink)
{
    struct source head, packed;

    if (!source_take(source, control >= PROPERTIES ? 5 : 4, &head))
        return -EBADMSG;
    size_t bytes = ((size_t)(control & 0x1f) << 16 | head.at[0] << 8 | head.at[1]) + 1;
    size_t size = (size_t)(head.at[2] << 8 | head.at[3]) + 1;
    if (control >= PROPERTIES && set_properties(lzma, head.at[4]))
        return -EBADMSG;
    if (control >= RESET)
        reset(lzma);
    if (!source_take(source, size, &packed))
        return -EBADMSG;
    if (bytes > sink->limit - sink->text->length)
        return -EFBIG;
    return decode(lzma, packed, sink, bytes);
}

/* False: the chunk needs what no earlier chunk has brought. */
static bool is_allowed(unsigned control, struct needs *needs)
{
    if (control == PLAIN_AND_START || control >= START)
        *needs = (struct needs){.properties = true};
    if (needs->start || (control > PLAIN && control < PACKED))
        return false;
    if (control >= PROPERTIES)
        needs->properties = false;
    return control < PACKED || !needs->properties;
}

int lzma2_decode(struct lzma *lzma, struct source *source, size_t dictionary, struct sink *sink)
{
    struct needs needs = {.start = true};
    struct source first;

    lzma->dictionary = dictionary;
    while (source_take(source, 1, &first)) {
        unsigned control = *first.at;
        if (control == END)
            return 0;
        if (!is_allowed(control, &needs))
            return -EBADMSG;
        if (control == PLAIN_AND_START || control >= START)
            lzma->start = sink->text->length;
        int result = control < PACKED ? decode_plain(source, sink)
                                      : decode_packed(lzma, control, source, sink);
        if (result)
            return result;
    }
    return -EBADMSG;
}
