/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* v0: constants, which are generic arguments and lengths, and patterns that narrow types. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "demangle/rust_parts.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Digits up to a _, possibly none; *digits is where they begin, without leading zeros. */
static bool read_hex(struct rust_name *name, const char **digits, size_t *length)
{
    while (rust_eat(name, '0'))
        ;
    *digits = name->at;
    while (name->at < name->end && hex_digit(*name->at) >= 0)
        name->at++;
    *length = (size_t)(name->at - *digits);
    return rust_eat(name, '_');
}

static bool read_small(struct rust_name *name, uint64_t *value)
{
    const char *digits;
    size_t length;

    *value = 0;
    if (!read_hex(name, &digits, &length) || length > 16)
        return false;
    while (length--)
        *value = *value << 4 | (unsigned)hex_digit(*digits++);
    return true;
}

/* In decimal up to 64 bits, then in hexadecimal; none has more than 128 bits. */
static bool read_integer(struct rust_name *name, bool is_signed)
{
    char text[24];
    const char *digits, *first;
    size_t length;
    uint64_t value;

    if (is_signed && rust_eat(name, 'n') && !rust_say(name, "-"))
        return false;
    first = name->at;
    if (!read_hex(name, &digits, &length) || length > 32)
        return false;
    if (length > 16)
        return rust_say(name, "0x") && rust_put(name, digits, length);
    name->at = first;
    if (!read_small(name, &value))
        return false;
    snprintf(text, sizeof(text), "%" PRIu64, value);
    return rust_say(name, text);
}

static bool read_bool(struct rust_name *name)
{
    uint64_t value;

    return read_small(name, &value) && value <= 1 && rust_say(name, value ? "true" : "false");
}

/* A quoted character, as in a source; as its number if it is not ASCII. */
static bool put_quoted(struct rust_name *name, uint64_t c, char quote)
{
    static const char CODES[] = "\tt\rr\nn\\\\";
    char text[16] = {(char)c};

    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return false;
    const char *code = c && c < 0x80 ? strchr(CODES, (int)c) : NULL;
    if (c == (unsigned char)quote)
        snprintf(text, sizeof(text), "\\%c", quote);
    else if (code && (code - CODES) % 2 == 0)
        snprintf(text, sizeof(text), "\\%c", code[1]);
    else if (c < 0x20 || c >= 0x7f)
        snprintf(text, sizeof(text), "\\u{%" PRIx64 "}", c);
    return rust_say(name, text);
}

static bool read_character(struct rust_name *name)
{
    uint64_t c;

    return read_small(name, &c) && rust_say(name, "'") && put_quoted(name, c, '\'') &&
           rust_say(name, "'");
}

static int next_byte(struct rust_name *name)
{
    int high = name->end - name->at < 2 ? -1 : hex_digit(name->at[0]);
    int low = high < 0 ? -1 : hex_digit(name->at[1]);

    if (low < 0)
        return -1;
    name->at += 2;
    return high << 4 | low;
}

/* UTF-8 bytes in hexadecimal, up to a _. */
static bool read_string(struct rust_name *name)
{
    if (!rust_say(name, "\""))
        return false;
    while (!rust_eat(name, '_')) {
        char bytes[4];
        size_t length = 0, needed = 1;
        for (; length < needed; length++) {
            int byte = next_byte(name);
            if (byte < 0)
                return false;
            bytes[length] = (char)byte;
            if (!length)
                needed = byte < 0xc0 ? 1 : 2u + (byte >= 0xe0) + (byte >= 0xf0);
        }
        const char *at = bytes;
        uint32_t c = rust_next_character(&at, bytes + length);
        if ((!c && *bytes) || at != bytes + length || !put_quoted(name, c, '"'))
            return false;
    }
    return rust_say(name, "\"");
}

/* &value; a string is written like that. */
static bool read_reference(struct rust_name *name, char tag)
{
    if (tag == 'R' && rust_eat(name, 'e'))
        return read_string(name);
    return rust_say(name, tag == 'Q' ? "&mut " : "&") && rust_const(name, true);
}

static bool read_tuple(struct rust_name *name)
{
    int count = rust_say(name, "(") ? rust_list(name, rust_const, true) : -1;

    return count >= 0 && rust_say(name, count == 1 ? ",)" : ")");
}

static bool read_field(struct rust_name *name, bool inside)
{
    struct rust_identifier identifier;
    uint64_t disambiguator;

    return rust_tagged(name, 's', &disambiguator) && rust_identifier(name, &identifier) &&
           rust_put_identifier(name, &identifier) && rust_say(name, ": ") &&
           rust_const(name, inside);
}

/* Unit, Tuple(value) or Struct { field: value } */
static bool read_variant(struct rust_name *name)
{
    if (!rust_path(name, true))
        return false;
    if (rust_eat(name, 'T'))
        return rust_say(name, "(") && rust_list(name, rust_const, true) >= 0 &&
               rust_say(name, ")");
    if (rust_eat(name, 'S'))
        return rust_say(name, " { ") && rust_list(name, read_field, true) >= 0 &&
               rust_say(name, " }");
    return rust_eat(name, 'U');
}

/* Anything but a literal; the tag is before name->at. */
static bool read_expression(struct rust_name *name, char tag)
{
    switch (tag) {
    case 'e': return rust_say(name, "*") && read_string(name);
    case 'R':
    case 'Q': return read_reference(name, tag);
    case 'A':
        return rust_say(name, "[") && rust_list(name, rust_const, true) >= 0 &&
               rust_say(name, "]");
    case 'T': return read_tuple(name);
    case 'V': return read_variant(name);
    }
    /* A named constant, in something generic over its value. */
    name->at--;
    return rust_path(name, true);
}

static bool read_const(struct rust_name *name, bool inside)
{
    char tag = *name->at++;

    switch (tag) {
    case 'a': case 's': case 'l': case 'x': case 'n': case 'i': return read_integer(name, true);
    case 'h': case 't': case 'm': case 'y': case 'o': case 'j': return read_integer(name, false);
    case 'b': return read_bool(name);
    case 'c': return read_character(name);
    case 'p': return rust_say(name, "_");
    case 'B': return rust_back(name, rust_const, inside);
    }
    if (inside || (tag == 'R' && name->at < name->end && *name->at == 'e'))
        return read_expression(name, tag);
    return rust_say(name, "{") && read_expression(name, tag) && rust_say(name, "}");
}

bool rust_const(struct rust_name *name, bool inside)
{
    bool fine = rust_enter(name) && read_const(name, inside);

    name->depth--;
    return fine;
}

/* Open ranges such as 1..=5; alternatives; !null */
static bool read_pattern(struct rust_name *name)
{
    switch (*name->at++) {
    case 'R':
        return rust_const(name, true) && rust_say(name, "..=") && rust_const(name, true);
    case 'u': return rust_say(name, "!null");
    case 'O':
        for (bool is_first = true; !rust_eat(name, 'E'); is_first = false)
            if ((!is_first && !rust_say(name, " | ")) || !rust_pattern(name, false))
                return false;
        return true;
    }
    return false;
}

bool rust_pattern(struct rust_name *name, bool inside)
{
    bool fine = rust_enter(name) && read_pattern(name);

    (void)inside;
    name->depth--;
    return fine;
}
