/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "demangle/punycode.h"

#include <errno.h>
#include <string.h>

/* The parameters of RFC 3492, section 5, by their names there. */
enum { BASE = 36, TMIN = 1, TMAX = 26, SKEW = 38, DAMP = 700 };
enum { INITIAL_BIAS = 72, INITIAL_N = 128 };

/* The new bias after reading a difference of `delta`, with `count` characters known. */
static uint32_t adapt(uint32_t delta, size_t count, int is_first)
{
    uint32_t k = 0;

    delta /= is_first ? DAMP : 2;
    delta += delta / (uint32_t)count;
    for (; delta > (BASE - TMIN) * TMAX / 2; k += BASE)
        delta /= BASE - TMIN;
    return k + (BASE - TMIN + 1) * delta / (delta + SKEW);
}

static uint32_t digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0' + 26);
    c |= 0x20;
    return c >= 'a' && c <= 'z' ? (uint32_t)(c - 'a') : BASE;
}

/* A number whose last digit is the first one below its threshold; added to *sum. */
static int read_difference(const char **at, const char *end, uint32_t bias, uint32_t *sum)
{
    uint32_t weight = 1;

    for (uint32_t k = BASE;; k += BASE) {
        uint32_t threshold = k <= bias ? TMIN : k >= bias + TMAX ? TMAX : k - bias;
        uint32_t digit = *at < end ? digit_value(*(*at)++) : BASE, part;
        if (digit == BASE || __builtin_mul_overflow(digit, weight, &part) ||
            __builtin_add_overflow(*sum, part, sum))
            return -EINVAL;
        if (digit < threshold)
            return 0;
        if (__builtin_mul_overflow(weight, BASE - threshold, &weight))
            return -EINVAL;
    }
}

/*
 * Copies the plain characters, up to the last delimiter. Returns its position, or that of the first
 * byte if there is none.
 */
static ssize_t copy_plain(const char *bytes, size_t length, char delimiter, uint32_t *characters,
                          size_t room)
{
    const char *last = memrchr(bytes, delimiter, length);
    size_t count = last ? (size_t)(last - bytes) : 0;

    if (count > room)
        return -EINVAL;
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] & 0x80)
            return -EINVAL;
        characters[i] = (uint32_t)bytes[i];
    }
    return (ssize_t)count;
}

ssize_t punycode_decode(const char *bytes, size_t length, char delimiter, uint32_t *characters,
                        size_t room)
{
    uint32_t next = INITIAL_N, place = 0, bias = INITIAL_BIAS;
    ssize_t plain = copy_plain(bytes, length, delimiter, characters, room);

    if (plain < 0)
        return plain;
    size_t count = (size_t)plain;
    const char *at = bytes + count, *end = bytes + length;
    if (count)
        at++;
    while (at < end) {
        uint32_t before = place;
        if (count == room || read_difference(&at, end, bias, &place))
            return -EINVAL;
        bias = adapt(place - before, ++count, !before);
        if (__builtin_add_overflow(next, place / (uint32_t)count, &next) || next > 0x10ffff ||
            (next >= 0xd800 && next < 0xe000))
            return -EINVAL;
        place %= (uint32_t)count;
        memmove(characters + place + 1, characters + place,
                (count - 1 - place) * sizeof(*characters));
        characters[place++] = next;
    }
    return (ssize_t)count;
}
