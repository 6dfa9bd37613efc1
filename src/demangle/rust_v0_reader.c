/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <ctype.h>
#include <string.h>

#include "demangle/punycode.h"
#include "demangle/rust_parts.h"

/*
 * The deepest nesting of paths, types and constants. The compiler itself reaches forty. A level
 * takes up to 250 bytes of stack; a musl thread has 128 KB in all.
 */
#define DEEPEST 200

/* A name of RUST_LONGEST bytes has fewer; only repeated reading exceeds it. */
#define MOST_STEPS (2 * RUST_LONGEST)

/* In characters; decoding takes time proportional to their square. */
#define LONGEST_PUNYCODE 256

bool rust_enter(struct rust_name *name)
{
    return ++name->depth <= DEEPEST && ++name->steps <= MOST_STEPS && name->at < name->end;
}

/* 0 is a number by itself: a digit after it belongs to what follows. */
bool rust_decimal(struct rust_name *name, size_t *number)
{
    size_t value = 0;

    if (name->at == name->end || !isdigit((unsigned char)*name->at))
        return false;
    if (!rust_eat(name, '0'))
        for (; name->at < name->end && isdigit((unsigned char)*name->at); name->at++) {
            value = 10 * value + (size_t)(*name->at - '0');
            if (value > INT32_MAX / 16) /* ten times that is a number at 32 bits, too */
                return false;
        }
    *number = value;
    return true;
}

static int base62_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'Z' ? c - 'A' + 36 : -1;
}

bool rust_base62(struct rust_name *name, uint64_t *number)
{
    uint64_t value = 0;

    *number = 0;
    if (rust_eat(name, '_'))
        return true;
    while (name->at < name->end && *name->at != '_') {
        int digit = base62_digit(*name->at++);
        if (digit < 0 || __builtin_mul_overflow(value, 62, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return false;
    }
    return rust_eat(name, '_') && !__builtin_add_overflow(value, 1, number);
}

bool rust_tagged(struct rust_name *name, char tag, uint64_t *number)
{
    *number = 0;
    return !rust_eat(name, tag) ||
           (rust_base62(name, number) && !__builtin_add_overflow(*number, 1, number));
}

bool rust_identifier(struct rust_name *name, struct rust_identifier *identifier)
{
    identifier->is_punycode = rust_eat(name, 'u');
    if (!rust_decimal(name, &identifier->length))
        return false;
    rust_eat(name, '_');
    if (identifier->length > (size_t)(name->end - name->at))
        return false;
    identifier->bytes = name->at;
    name->at += identifier->length;
    return true;
}

uint32_t rust_next_character(const char **at, const char *end)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)*(*at)++;
    unsigned more = first < 0xc0 ? 0 : 1 + (first >= 0xe0) + (first >= 0xf0);
    uint32_t c = more ? first & (0x3fu >> more) : first;

    if ((!more && first >= 0x80) || first >= 0xf8 || end - *at < (ptrdiff_t)more)
        return 0;
    for (unsigned i = 0; i < more; i++, ++*at) {
        if ((**at & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (**at & 0x3f);
    }
    return c >= least[more] ? c : 0;
}

/* One bit per ASCII character: reading names spends most of its time here. */
static inline bool is_word(unsigned char c)
{
    static const uint32_t WORD[] = {0, 0x03ff0000, 0x87fffffe, 0x07fffffe};

    return c < 0x80 && (WORD[c / 32] >> c % 32 & 1);
}

static bool is_identifier_part(uint32_t c)
{
    return c < 0x80 ? is_word((unsigned char)c) : rust_is_character(c);
}

static bool put_punycode(struct rust_name *name, const struct rust_identifier *identifier)
{
    uint32_t characters[LONGEST_PUNYCODE];
    ssize_t count = punycode_decode(identifier->bytes, identifier->length, '_', characters,
                                    LONGEST_PUNYCODE);

    for (ssize_t i = 0; i < count; i++)
        if (!is_identifier_part(characters[i]) || !rust_put_character(name, characters[i]))
            return false;
    return count > 0;
}

bool rust_put_identifier(struct rust_name *name, const struct rust_identifier *identifier)
{
    const char *at = identifier->bytes, *end = at + identifier->length;

    if (identifier->is_punycode) /* which needs an encoded part */
        return at < end && end[-1] != '_' && put_punycode(name, identifier);
    while (at < end) {
        if (is_word((unsigned char)*at))
            at++;
        else if (!is_identifier_part(rust_next_character(&at, end)))
            return false;
    }
    return rust_put(name, identifier->bytes, identifier->length);
}

bool rust_back(struct rust_name *name, rust_element *element, bool inside)
{
    const char *tag = name->at - 1;
    uint64_t place;

    if (!rust_base62(name, &place) || place >= (uint64_t)(tag - name->start))
        return false;
    if (name->silent)
        return true;
    const char *behind = name->at;
    name->at = name->start + place;
    if (!element(name, inside))
        return false;
    name->at = behind;
    return true;
}

int rust_list(struct rust_name *name, rust_element *element, bool inside)
{
    int count = 0;

    for (; !rust_eat(name, 'E'); count++)
        if ((count && !rust_say(name, ", ")) || !element(name, inside))
            return -1;
    return count;
}
