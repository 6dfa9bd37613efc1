/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/format.h"

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MOST_DIGITS 18 /* digits computed after the point: the rest are 0 */
#define TEXT_BYTES 64

struct piece {
    FILE *out;
    bool left, zeros, plus, failed;
    int width, precision; /* -1: not given */
    int printed;
};

/* ---- Printing ---- */

static void put(struct piece *piece, const char *bytes, size_t length)
{
    piece->printed += (int)length;
    if (length && fwrite(bytes, 1, length, piece->out) != length)
        piece->failed = true;
}

static void fill(struct piece *piece, char with, int count)
{
    char bytes[TEXT_BYTES];

    memset(bytes, with, sizeof(bytes));
    for (; count > 0; count -= TEXT_BYTES)
        put(piece, bytes, count < TEXT_BYTES ? (size_t)count : TEXT_BYTES);
}

/* A text with its sign, padded to the width. */
static void put_field(struct piece *piece, const char *sign, const char *text, size_t length)
{
    const int rest = piece->width - (int)(strlen(sign) + length);

    if (!piece->left && !piece->zeros)
        fill(piece, ' ', rest);
    put(piece, sign, strlen(sign));
    if (!piece->left && piece->zeros)
        fill(piece, '0', rest);
    put(piece, text, length);
    if (piece->left)
        fill(piece, ' ', rest);
}

/* Digits ending at `end`; at least that many. */
static char *add_digits(char *end, uint64_t value, unsigned base, int least)
{
    do {
        *--end = "0123456789abcdef"[value % base];
        value /= base;
        least--;
    } while (value || least > 0);
    return end;
}

static void put_number(struct piece *piece, const char *sign, uint64_t value, unsigned base)
{
    char text[TEXT_BYTES], *end = text + sizeof(text);
    const char *start = add_digits(end, value, base, 1);

    put_field(piece, sign, start, (size_t)(end - start));
}

/* ---- Fractions ---- */

struct decimal {
    uint64_t whole, part; /* before the point, and that many digits after it */
};

static uint64_t power_of_ten(int exponent)
{
    uint64_t power = 1;

    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* The next digit of a 64-bit fraction, which keeps the rest. */
static unsigned next_digit(uint64_t *fraction)
{
    const uint64_t low = (*fraction & UINT32_MAX) * 10;
    const uint64_t high = (*fraction >> 32) * 10 + (low >> 32);

    *fraction = high << 32 | (low & UINT32_MAX);
    return (unsigned)(high >> 32);
}

/* Rounded to that many digits, halves to even: for a value below 2^63. */
static struct decimal round_to(double value, int digits)
{
    struct decimal decimal = {.whole = (uint64_t)value};
    const double bits = (value - (double)decimal.whole) * 0x1p64;
    uint64_t fraction = (uint64_t)bits;
    const bool has_more = (double)fraction < bits;
    const uint64_t half = UINT64_C(1) << 63, one = power_of_ten(digits);

    for (int i = 0; i < digits; i++)
        decimal.part = decimal.part * 10 + next_digit(&fraction);
    const uint64_t last = digits ? decimal.part : decimal.whole;
    if (fraction > half || (fraction == half && (has_more || last & 1)))
        decimal.part++;
    if (decimal.part == one || (!digits && decimal.part)) {
        decimal.part = 0;
        decimal.whole++;
    }
    return decimal;
}

/* Divides by ten what is too large for that. Returns how often. */
static int scale_down(double *value)
{
    int tens = 0;

    for (; *value >= 0x1p63; tens++)
        *value /= 10;
    return tens;
}

static void put_fixed(struct piece *piece, const char *sign, double value, int digits)
{
    const int tens = scale_down(&value), computed = digits < MOST_DIGITS ? digits : MOST_DIGITS;
    const struct decimal decimal = round_to(value, tens ? 0 : computed);
    char text[512], *end = text + sizeof(text);

    digits = digits < TEXT_BYTES ? digits : TEXT_BYTES;
    memset(text, '0', sizeof(text));
    char *start = end - digits + computed;
    if (digits) {
        start = add_digits(start, decimal.part, 10, computed);
        *--start = '.';
    }
    start = add_digits(start - tens, decimal.whole, 10, 1);
    put_field(piece, sign, start, (size_t)(end - start));
}

/* The power of ten of its first digit, after rounding to that many. */
static int exponent_of(double value, int digits)
{
    int exponent = 0;

    if (value == 0)
        return 0;
    for (; value >= 10; exponent++)
        value /= 10;
    for (; value < 1; exponent--)
        value *= 10;
    return exponent + (round_to(value, digits - 1).whole >= 10);
}

/* Without trailing zeros. */
static int digits_needed(double value, int digits)
{
    struct decimal decimal = round_to(value, digits);

    for (; digits && decimal.part % 10 == 0; digits--)
        decimal.part /= 10;
    return digits;
}

static void put_general(struct piece *piece, const char *sign, double value, int precision)
{
    const int digits = precision ? precision : 1, exponent = exponent_of(value, digits);
    struct piece mantissa = *piece;

    if (exponent >= -4 && exponent < digits) {
        const int behind = digits - 1 - exponent;
        put_fixed(piece, sign, value, digits_needed(value, behind < MOST_DIGITS ? behind : MOST_DIGITS));
        return;
    }
    for (int i = exponent; i > 0; i--)
        value /= 10;
    for (int i = exponent; i < 0; i++)
        value *= 10;
    mantissa.width = 0;
    put_fixed(&mantissa, sign, value, digits_needed(value, digits - 1));
    *piece = (struct piece){.out = piece->out, .zeros = true, .width = 2, .printed = mantissa.printed,
                            .failed = mantissa.failed};
    put(piece, exponent < 0 ? "e-" : "e+", 2);
    put_number(piece, "", (uint64_t)(exponent < 0 ? -exponent : exponent), 10);
}

static void put_double(struct piece *piece, char conversion, double value)
{
    const char *sign = value < 0 || (value == 0 && 1 / value < 0) ? "-" : piece->plus ? "+" : "";
    const double size = value < 0 ? -value : value;
    const int precision = piece->precision < 0 ? 6 : piece->precision;

    if (!(size <= DBL_MAX)) {
        piece->zeros = false;
        put_field(piece, value == value ? sign : "", value == value ? "inf" : "nan", 3);
    } else if (conversion == 'g') {
        put_general(piece, sign, size, precision < MOST_DIGITS ? precision : MOST_DIGITS);
    } else {
        put_fixed(piece, sign, size, precision);
    }
}

/* ---- The format ---- */

/* A list of arguments shared by functions. */
struct given {
    va_list list;
};

/* A number, or * for an argument. */
static int take_count(const char **at, struct given *given)
{
    int count = 0;

    if (**at == '*') {
        ++*at;
        return va_arg(given->list, int);
    }
    for (; **at >= '0' && **at <= '9'; ++*at)
        count = count * 10 + **at - '0';
    return count;
}

static void take_layout(const char **at, struct given *given, struct piece *piece)
{
    for (; **at && strchr("-0+", **at); ++*at) {
        piece->left |= **at == '-';
        piece->zeros |= **at == '0';
        piece->plus |= **at == '+';
    }
    piece->width = take_count(at, given);
    piece->precision = -1;
    if (piece->width < 0) {
        piece->left = true;
        piece->width = -piece->width;
    }
    if (**at == '.') {
        ++*at;
        piece->precision = take_count(at, given);
    }
}

/* How many l there are; z counts as one, as it is a long everywhere. */
static int take_size(const char **at)
{
    int size = 0;

    for (; **at == 'l' || **at == 'z'; ++*at)
        size++;
    return size;
}

static uint64_t take_unsigned(struct given *given, int size)
{
    return size > 1 ? va_arg(given->list, unsigned long long)
                    : size ? va_arg(given->list, unsigned long) : va_arg(given->list, unsigned);
}

static int64_t take_signed(struct given *given, int size)
{
    return size > 1 ? va_arg(given->list, long long) : size ? va_arg(given->list, long) : va_arg(given->list, int);
}

static void put_text(struct piece *piece, const char *text)
{
    if (!text)
        text = "(null)";
    piece->zeros = false;
    put_field(piece, "", text, piece->precision < 0 ? strlen(text) : strnlen(text, (size_t)piece->precision));
}

static void put_conversion(struct piece *piece, const char **at, struct given *given)
{
    const int size = take_size(at);
    const char conversion = *(*at)++;
    int64_t number;
    char byte;

    switch (conversion) {
    case 'd':
        number = take_signed(given, size);
        put_number(piece, number < 0 ? "-" : piece->plus ? "+" : "", number < 0 ? -(uint64_t)number : (uint64_t)number,
                   10);
        break;
    case 'u':
    case 'x':
        put_number(piece, "", take_unsigned(given, size), conversion == 'x' ? 16 : 10);
        break;
    case 'p':
        put_number(piece, "0x", (uint64_t)(uintptr_t)va_arg(given->list, void *), 16);
        break;
    case 's':
        put_text(piece, va_arg(given->list, const char *));
        break;
    case 'f':
    case 'g':
        put_double(piece, conversion, va_arg(given->list, double));
        break;
    default: /* a character, or one that stands for itself: % */
        byte = conversion == 'c' ? (char)va_arg(given->list, int) : conversion;
        put_field(piece, "", &byte, 1);
    }
}

int format_print(FILE *out, const char *format, va_list arguments)
{
    struct piece piece = {.out = out};
    struct given given;

    va_copy(given.list, arguments);
    while (*format) {
        const size_t length = strcspn(format, "%");
        put(&piece, format, length);
        format += length;
        if (!*format)
            break;
        format++;
        piece = (struct piece){.out = out, .printed = piece.printed, .failed = piece.failed};
        take_layout(&format, &given, &piece);
        put_conversion(&piece, &format, &given);
    }
    va_end(given.list);
    return piece.failed ? -1 : piece.printed;
}

/* musl's other functions call this one by its name. */
#ifndef __GLIBC__
int vfprintf(FILE *out, const char *format, va_list arguments)
{
    return format_print(out, format, arguments);
}
#endif
