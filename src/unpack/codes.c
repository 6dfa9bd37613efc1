/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unpack/codes.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"

#define LENGTH_BITS 4 /* of an entry in `quick` */
#define ENOUGH_BITS 48

void bits_fill(struct bits *bits)
{
    for (; bits->count <= ENOUGH_BITS && bits->source->left; bits->count += 8) {
        bits->held |= (uint64_t)*bits->source->at++ << bits->count;
        bits->source->left--;
    }
}

unsigned bits_take(struct bits *bits, unsigned count)
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

void bits_end(struct bits *bits)
{
    unsigned bytes = bits->count / 8;

    bits->source->at -= bytes;
    bits->source->left += bytes;
    bits->held = bits->count = 0;
}

/*
 * The entries for everything that may follow a short code, which comes with its first bit lowest.
 */
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

    /*
     * Where the codes of each length begin among the symbols; codes of one length are consecutive.
     */
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

int codes_make(struct codes *codes, const unsigned char *lengths, unsigned count, bool may_lack)
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

int codes_take(const struct codes *codes, struct bits *bits)
{
    unsigned entry = codes->quick[bits->held & (COUNT_OF(codes->quick) - 1)];

    if (!entry)
        return take_long(codes, bits);
    bits_take(bits, entry & ((1 << LENGTH_BITS) - 1));
    return (int)(entry >> LENGTH_BITS);
}
