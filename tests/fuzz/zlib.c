/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * zlib streams as they are, and again with a correct header and checksum: the result equals that of
 * a simple reader of the same bits.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "fuzz.h"
#include "unpack/unpack.h"

#define MOST 65536
#define MOST_BYTES 2048 /* of input for the simple reader, which is slow */
#define SYMBOLS 288

struct plain {
    const uint8_t *bytes;
    size_t size, bit; /* bit: the next to read */
    bool is_bad, is_too_much;
    uint8_t out[MOST];
    size_t length;
};

/* The index is a 1 and the bits of the code; the value is the symbol + 1, or 0: no such code. */
struct plain_code {
    uint16_t symbols[1 << 16];
};

static unsigned plain_bits(struct plain *plain, unsigned count)
{
    unsigned number = 0;

    for (unsigned i = 0; i < count; i++, plain->bit++) {
        if (plain->bit / 8 >= plain->size) {
            plain->is_bad = true;
            return 0;
        }
        number |= (unsigned)(plain->bytes[plain->bit / 8] >> plain->bit % 8 & 1) << i;
    }
    return number;
}

/* False: over- or undersubscribed. A single code of one bit, or none, is valid. */
static bool plain_code(struct plain_code *code, const uint8_t *lengths, unsigned count)
{
    unsigned next = 0, used = 0, symbols = 0;

    memset(code, 0, sizeof(*code));
    for (unsigned length = 1; length <= 15; length++, next <<= 1)
        for (unsigned i = 0; i < count; i++)
            if (lengths[i] == length) {
                code->symbols[(1u << length | next++) & 0xffff] = (uint16_t)(i + 1);
                used += 1u << (15 - length);
                symbols++;
            }
    return used == 1 << 15 || !symbols || (symbols == 1 && used == 1 << 14);
}

static unsigned plain_symbol(struct plain *plain, const struct plain_code *code)
{
    unsigned bits = 1;

    while (bits < 1 << 15) {
        bits = bits << 1 | plain_bits(plain, 1);
        if (code->symbols[bits])
            return code->symbols[bits] - 1u;
    }
    plain->is_bad = true;
    return 0;
}

static void plain_put(struct plain *plain, uint8_t byte)
{
    if (plain->length == MOST)
        plain->is_too_much = plain->is_bad = true;
    else
        plain->out[plain->length++] = byte;
}

static void plain_repeat(struct plain *plain, unsigned symbol, const struct plain_code *code)
{
    unsigned length = 3, distance = 1;

    if (symbol > 285) {
        plain->is_bad = true;
        return;
    }
    for (unsigned i = 257; i < symbol; i++)
        length += i < 265 ? 1 : 1u << (i - 261) / 4;
    length = symbol == 285 ? 258
                           : length + plain_bits(plain, symbol < 265 ? 0 : (symbol - 261) / 4);
    symbol = plain_symbol(plain, code);
    for (unsigned i = 0; i < symbol; i++)
        distance += i < 4 ? 1 : 1u << (i - 2) / 2;
    distance += plain_bits(plain, symbol < 4 ? 0 : (symbol - 2) / 2);
    if (symbol > 29 || distance > plain->length)
        plain->is_bad = true;
    while (length-- && !plain->is_bad)
        plain_put(plain, plain->out[plain->length - distance]);
}

static void plain_coded(struct plain *plain, const struct plain_code *literals,
                        const struct plain_code *distances)
{
    while (!plain->is_bad) {
        unsigned symbol = plain_symbol(plain, literals);
        if (symbol == 256 || plain->is_bad)
            return;
        if (symbol < 256)
            plain_put(plain, (uint8_t)symbol);
        else
            plain_repeat(plain, symbol, distances);
    }
}

static void plain_stored(struct plain *plain)
{
    plain->bit = (plain->bit + 7) / 8 * 8;
    unsigned length = plain_bits(plain, 16), opposite = plain_bits(plain, 16);
    if ((length ^ opposite) != 0xffff)
        plain->is_bad = true;
    /* Truncation is reported before excess data. */
    if (length > plain->size - (plain->bit < plain->size * 8 ? plain->bit / 8 : plain->size))
        plain->is_bad = true;
    while (length-- && !plain->is_bad)
        plain_put(plain, (uint8_t)plain_bits(plain, 8));
}

static void plain_dynamic(struct plain *plain)
{
    static const uint8_t order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                    11, 4,  12, 3, 13, 2, 14, 1, 15};
    static struct plain_code lengths_code, literals_code, distances_code;
    uint8_t lengths[320 + 138] = {0}, few[19] = {0};
    unsigned literals = 257 + plain_bits(plain, 5), distances = 1 + plain_bits(plain, 5);
    unsigned count = 4 + plain_bits(plain, 4), at = 0, used = 0;

    for (unsigned i = 0; i < count; i++)
        used += (few[order[i]] = (uint8_t)plain_bits(plain, 3)) ? 128u >> few[order[i]] : 0;
    if (literals > 286 || distances > 30 || used != 128 || !plain_code(&lengths_code, few, 19))
        plain->is_bad = true;
    while (!plain->is_bad && at < literals + distances) {
        unsigned symbol = plain_symbol(plain, &lengths_code), times = 1;
        uint8_t length = (uint8_t)symbol;
        if (symbol == 16)
            times = 3 + plain_bits(plain, 2), length = at ? lengths[at - 1] : 99;
        else if (symbol > 16)
            times = symbol == 17 ? 3 + plain_bits(plain, 3) : 11 + plain_bits(plain, 7), length = 0;
        while (times--)
            lengths[at++] = length;
        plain->is_bad |= length > 15;
    }
    if (plain->is_bad || at > literals + distances || !lengths[256] ||
        !plain_code(&literals_code, lengths, literals) ||
        !plain_code(&distances_code, lengths + literals, distances))
        plain->is_bad = true;
    plain_coded(plain, &literals_code, &distances_code);
}

static void plain_fixed(struct plain *plain)
{
    static struct plain_code literals, distances;
    uint8_t lengths[SYMBOLS];

    if (!literals.symbols[1 << 8 | 0x30]) {
        for (unsigned i = 0; i < SYMBOLS; i++)
            lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
        plain_code(&literals, lengths, SYMBOLS);
        memset(lengths, 5, 32);
        plain_code(&distances, lengths, 32);
    }
    plain_coded(plain, &literals, &distances);
}

static void plain_inflate(struct plain *plain)
{
    for (bool is_last = false; !is_last && !plain->is_bad;) {
        is_last = plain_bits(plain, 1);
        unsigned kind = plain_bits(plain, 2);
        if (kind == 3)
            plain->is_bad = true;
        else if (!plain->is_bad)
            (kind == 0 ? plain_stored : kind == 1 ? plain_fixed : plain_dynamic)(plain);
    }
}

/* Unpacks the same bits with a correct header and checksum; the simple reader must agree. */
static void compare(const uint8_t *data, size_t size)
{
    static struct plain plain;
    uint64_t sum = 1, sums = 0;
    struct text text = {0};

    plain = (struct plain){.bytes = data, .size = size};
    plain_inflate(&plain);
    if (!plain.is_bad)
        size = (plain.bit + 7) / 8;
    uint8_t *made = malloc(size + 6);
    ALWAYS(made);
    memcpy(made, "\x78\x9c", 2);
    memcpy(made + 2, data, size);
    for (size_t i = 0; i < plain.length; i++)
        sums += sum += plain.out[i];
    sum = (sums % 65521) << 16 | sum % 65521;
    for (int i = 0; i < 4; i++)
        made[2 + size + i] = (uint8_t)(sum >> (24 - 8 * i));
    /* Bad bits get no checksum: the reader would take it for a truncated stream's missing data. */
    int result = unpack_zlib(made, plain.is_bad ? size + 2 : size + 6, MOST, &text);
    if (plain.is_bad) {
        ALWAYS(result == (plain.is_too_much ? -EFBIG : -EBADMSG));
    } else {
        ALWAYS(!result && text.length == plain.length);
        ALWAYS(!memcmp(text.data, plain.out, plain.length));
    }
    free(made);
    text_free(&text);
}

/* Whatever the input is, up to 1 MB is unpacked, also by the simple reader. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {8 << 20, 16, 0},
    [FUZZ_READS] = {1, 0, 0},
    [FUZZ_TIME] = {500000, 50, 0},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    struct text text = {0};
    int result = unpack_zlib(data, size, MOST, &text);

    ALWAYS(!result || result == -EBADMSG || result == -EOPNOTSUPP || result == -EFBIG);
    ALWAYS(text.length <= MOST && text.room <= MOST + 1);
    text_free(&text);
    if (size >= 2 && size <= MOST_BYTES)
        compare(data + 2, size - 2);
}
