/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "draw/folded_text.h"

#include <string.h>

#define WORD FOLDED_MORE

/* ---- Counts ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool folded_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static uint32_t parse_fraction(const char *digits, const char *end)
{
    uint32_t fraction = 0, unit = FOLDED_UNIT;

    for (; digits < end && unit > 1; digits++) {
        unit /= 10;
        fraction += unit * (uint32_t)(*digits - '0');
    }
    return fraction;
}

static struct folded_count parse_count(const char *text, const char *end)
{
    struct folded_count count = {0};

    for (; text < end && *text != '.'; text++)
        if (__builtin_mul_overflow(count.whole, 10, &count.whole) ||
            __builtin_add_overflow(count.whole, (uint64_t)(*text - '0'), &count.whole))
            count.over = true;
    if (text < end)
        count.millionths = parse_fraction(text + 1, end);
    return count;
}

bool folded_take_count(const char *line, const char **end, struct folded_count *count)
{
    const char *at = *end, *point = NULL;

    while (at > line && (is_digit(at[-1]) || (at[-1] == '.' && !point)))
        if (*--at == '.')
            point = at;
    if (at == *end || at == point || at == line || !folded_is_blank(at[-1]))
        return false;
    *count = parse_count(at, *end);
    while (at > line && folded_is_blank(at[-1]))
        at--;
    *end = at;
    return true;
}

/* ---- Words ---- */

/* 0x80 in each byte that is 0 in the word, and in no other. */
static uint64_t zero_bytes(uint64_t word)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7f;

    return ~(((word & low) + low) | word | low);
}

static uint64_t word_at(const char *text)
{
    uint64_t word;

    memcpy(&word, text, sizeof(word));
    return word;
}

/* The index of the first marked byte in memory. */
static size_t first_mark(uint64_t marks)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (size_t)__builtin_ctzll(marks) / 8;
#else
    return (size_t)__builtin_clzll(marks) / 8;
#endif
}

size_t folded_find_semicolon(const char *stack, size_t at, size_t length)
{
    for (; at < length; at += WORD) {
        uint64_t marks = zero_bytes(word_at(stack + at) ^ 0x3b3b3b3b3b3b3b3b);
        if (marks) {
            at += first_mark(marks);
            break;
        }
    }
    return at < length ? at : length;
}

size_t folded_common_length(const char *a, const char *b, size_t most)
{
    size_t at = 0;

    for (; at < most; at += WORD) {
        uint64_t differ = word_at(a + at) ^ word_at(b + at);
        if (differ) {
            at += first_mark(differ);
            break;
        }
    }
    return at < most ? at : most;
}
