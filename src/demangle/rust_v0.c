/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "demangle/rust.h"

/*
 * The deepest nesting of paths, types and constants. The compiler itself reaches forty. A level
 * takes up to 250 bytes of stack; a musl thread has 128 KB in all.
 */
#define DEEPEST 200

/* A name of RUST_LONGEST bytes has fewer; only back references exceed it. */
#define MOST_STEPS (2 * RUST_LONGEST)

/* In characters; decoding takes time proportional to their square. */
#define LONGEST_PUNYCODE 256

struct rust_identifier {
    const char *bytes;
    size_t length;
    bool is_punycode;
};

/* An element of the grammar: a path, a type, a constant. `inside`: see each. */
typedef bool rust_element(struct rust_name *name, bool inside);

/* inside: an expression, where generic arguments follow ::< */
static rust_element rust_path;
/* inside: has no meaning */
static rust_element rust_type;
static rust_element rust_pattern;
/* inside: an expression, which needs no { } around it */
static rust_element rust_const;

/* On entering something nested: false if this is too deep or too much. */
static bool rust_enter(struct rust_name *name)
{
    return ++name->depth <= DEEPEST && ++name->steps <= MOST_STEPS && name->at < name->end;
}

/* A 0 is a whole number: a digit after it is not part of it. */
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
    return isdigit((unsigned char)c) ? c - '0'
           : c >= 'a' && c <= 'z'    ? c - 'a' + 10
           : c >= 'A' && c <= 'Z'    ? c - 'A' + 36
                                     : -1;
}

static bool rust_base62(struct rust_name *name, uint64_t *number)
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

/* The number after `tag`, plus one; 0 without a tag. */
static bool rust_tagged(struct rust_name *name, char tag, uint64_t *number)
{
    *number = 0;
    return !rust_eat(name, tag) ||
           (rust_base62(name, number) && !__builtin_add_overflow(*number, 1, number));
}

static bool rust_identifier(struct rust_name *name, struct rust_identifier *identifier)
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

static bool rust_put_identifier(struct rust_name *name, const struct rust_identifier *identifier)
{
    const char *at = identifier->bytes, *end = at + identifier->length;

    if (identifier->is_punycode) /* which needs an encoded part */
        return at < end && end[-1] != '_' && put_punycode(name, identifier);
    while (at < end) {
        if (is_word((unsigned char)*at))
            at++;
        else if (!is_identifier_part(utf8_take(&at, end)))
            return false;
    }
    return rust_put(name, identifier->bytes, identifier->length);
}

/* The element that a B refers back to; the B has been read. */
static bool rust_back(struct rust_name *name, rust_element *element, bool inside)
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

/* Elements up to an E. Returns how many, or -1. */
static int rust_list(struct rust_name *name, rust_element *element, bool inside,
                     const char *between)
{
    int count = 0;

    for (; !rust_eat(name, 'E'); count++)
        if ((count && !rust_say(name, between)) || !element(name, inside))
            return -1;
    return count;
}

static bool read_identifier(struct rust_name *name)
{
    struct rust_identifier identifier;

    return rust_identifier(name, &identifier) && rust_put_identifier(name, &identifier);
}

static bool read_field(struct rust_name *name, bool inside);

/*
 * Says this text, in which %t is a type, %p a path, %i an identifier, %k a constant in an
 * expression, and %T, %K and %F are lists of types, constants and fields.
 */
static bool rust_form(struct rust_name *name, const char *form)
{
    for (bool fine = true; fine;) {
        const char *end = strchrnul(form, '%');
        if (!rust_put(name, form, (size_t)(end - form)) || !*end)
            return !*end;
        form = end + 2;
        switch (end[1]) {
        case 't': fine = rust_type(name, false); break;
        case 'p': fine = rust_path(name, false); break;
        case 'i': fine = read_identifier(name); break;
        case 'k': fine = rust_const(name, true); break;
        case 'T': fine = rust_list(name, rust_type, false, ", ") >= 0; break;
        case 'K': fine = rust_list(name, rust_const, true, ", ") >= 0; break;
        case 'F': fine = rust_list(name, read_field, true, ", ") >= 0; break;
        }
    }
    return false;
}

/*
 * Rust's v0 mangling: paths and types. An upper case tag says what follows, without ambiguity. The
 * output is what rustc prints for a name in a backtrace: without the crates' hashes, and without an
 * impl's location.
 */

/* By their lower case letters; empty for a letter without meaning. */
static const char BASIC_TYPES[26][6] = {
    "i8", "bool", "char", "f64", "str", "f32", "",   "u8",  "isize", "usize", "",    "i32", "u32",
    "i128", "u128", "_",  "",    "",    "i16", "u16", "()", "...",   "",      "i64", "u64", "!"};

static bool put_lifetime(struct rust_name *name, uint64_t index)
{
    char text[24] = "'_";

    if (index > name->lifetimes)
        return false;
    if (index && name->lifetimes - index < 26)
        text[1] = (char)('a' + (name->lifetimes - index));
    else if (index)
        snprintf(text, sizeof(text), "'_%" PRIu64, name->lifetimes - index);
    return rust_say(name, text);
}

/* for<'a, 'b>: its lifetimes are bound until name->lifetimes is restored. */
static bool read_binder(struct rust_name *name)
{
    uint64_t count;

    if (!rust_tagged(name, 'G', &count) || count > RUST_LONGEST)
        return false;
    if (!count || name->silent) {
        name->lifetimes += count;
        return true;
    }
    for (uint64_t i = 0; i < count; i++) {
        name->lifetimes++;
        if (!rust_say(name, i ? ", " : "for<") || !put_lifetime(name, 1))
            return false;
    }
    return rust_say(name, "> ");
}

/* --shorten omits what is between them. */
static bool open_arguments(struct rust_name *name)
{
    bool fine = rust_say(name, name->shorten ? "<..." : "<");

    name->silent += name->shorten;
    return fine;
}

static bool close_arguments(struct rust_name *name)
{
    name->silent -= name->shorten;
    return rust_say(name, ">");
}

static bool read_argument(struct rust_name *name, bool inside)
{
    uint64_t index;

    if (rust_eat(name, 'L'))
        return rust_base62(name, &index) && put_lifetime(name, index);
    return rust_eat(name, 'K') ? rust_const(name, inside) : rust_type(name, inside);
}

static bool read_nested(struct rust_name *name, bool inside)
{
    struct rust_identifier identifier;
    char number[32], space = name->at < name->end ? *name->at++ : '\0';
    uint64_t disambiguator;
    bool is_upper = space >= 'A' && space <= 'Z';

    if ((!is_upper && (space < 'a' || space > 'z')) || !rust_path(name, inside) ||
        !rust_tagged(name, 's', &disambiguator) || !rust_identifier(name, &identifier))
        return false;
    if (!is_upper)
        return (!identifier.length || rust_say(name, "::")) &&
               rust_put_identifier(name, &identifier);
    snprintf(number, sizeof(number), "#%" PRIu64 "}", disambiguator);
    return rust_say(name, "::{") &&
           (space == 'C' ? rust_say(name, "closure")
            : space == 'S' ? rust_say(name, "shim") : rust_put(name, &space, 1)) &&
           (!identifier.length || rust_say(name, ":")) &&
           rust_put_identifier(name, &identifier) && rust_say(name, number);
}

/* <type as trait>, after which its contents follow. `tag`: M without a trait, X, or Y. */
static bool read_impl(struct rust_name *name, char tag)
{
    uint64_t disambiguator;

    if (tag != 'Y') {
        name->silent++;
        if (!rust_tagged(name, 's', &disambiguator) || !rust_path(name, false))
            return false;
        name->silent--;
    }
    return rust_form(name, tag == 'M' ? "<%t>" : "<%t as %p>");
}

/* A crate, or the name of a field. */
static bool read_crate(struct rust_name *name)
{
    uint64_t disambiguator;

    return rust_tagged(name, 's', &disambiguator) && read_identifier(name);
}

static bool read_path(struct rust_name *name, bool inside)
{
    char tag = *name->at++;

    switch (tag) {
    case 'C': return read_crate(name);
    case 'N': return read_nested(name, inside);
    case 'M':
    case 'X':
    case 'Y': return read_impl(name, tag);
    case 'I':
        return rust_path(name, inside) && (!inside || rust_say(name, "::")) &&
               open_arguments(name) && rust_list(name, read_argument, false, ", ") >= 0 &&
               close_arguments(name);
    case 'B': return rust_back(name, rust_path, inside);
    }
    return false;
}

static bool rust_path(struct rust_name *name, bool inside)
{
    bool fine = rust_enter(name) && read_path(name, inside);

    name->depth--;
    return fine;
}

/* extern "C-unwind", after the K: a hyphen is an underscore in the mangled name. */
static bool read_abi(struct rust_name *name)
{
    struct rust_identifier abi = {.bytes = "C", .length = 1};

    if (!rust_say(name, "extern \"") ||
        (!rust_eat(name, 'C') && (!rust_identifier(name, &abi) || abi.is_punycode)))
        return false;
    size_t at = name->to->length;
    if (!rust_put_identifier(name, &abi))
        return false;
    for (; at < name->to->length; at++)
        if (name->to->data[at] == '_')
            name->to->data[at] = '-';
    return rust_say(name, "\" ");
}

/* for<'a> unsafe extern "C" fn(A, B) -> C */
static bool read_function(struct rust_name *name)
{
    uint64_t outside = name->lifetimes;

    if (!read_binder(name) || (rust_eat(name, 'U') && !rust_say(name, "unsafe ")) ||
        (rust_eat(name, 'K') && !read_abi(name)) || !rust_form(name, "fn(%T)") ||
        (!rust_eat(name, 'u') && !rust_form(name, " -> %t")))
        return false;
    name->lifetimes = outside;
    return true;
}

/* A path whose generic arguments are left open, as associated types may follow. */
static bool read_open_path(struct rust_name *name, bool inside)
{
    bool fine;

    if (!rust_enter(name))
        return false;
    name->open = false;
    if (rust_eat(name, 'B')) {
        fine = rust_back(name, read_open_path, inside);
    } else if (rust_eat(name, 'I')) {
        fine = rust_path(name, false) && open_arguments(name) &&
               rust_list(name, read_argument, false, ", ") >= 0;
        name->open = true;
    } else {
        fine = rust_path(name, false);
    }
    name->depth--;
    return fine;
}

/* Trait<A, Item = B> */
static bool read_bound(struct rust_name *name, bool inside)
{
    if (!read_open_path(name, inside))
        return false;
    bool is_open = name->open;
    while (rust_eat(name, 'p')) {
        if (!(is_open ? rust_say(name, ", ") : open_arguments(name)))
            return false;
        is_open = true;
        if (!rust_form(name, "%i = ") ||
            !(rust_eat(name, 'K') ? rust_const(name, false) : rust_type(name, false)))
            return false;
    }
    return !is_open || close_arguments(name);
}

/* dyn for<'a> Trait + Other + 'a */
static bool read_dyn(struct rust_name *name)
{
    uint64_t outside = name->lifetimes, lifetime;

    if (!rust_say(name, "dyn ") || !read_binder(name) ||
        rust_list(name, read_bound, false, " + ") < 0)
        return false;
    name->lifetimes = outside;
    return rust_eat(name, 'L') && rust_base62(name, &lifetime) &&
           (!lifetime || (rust_say(name, " + ") && put_lifetime(name, lifetime)));
}

/* &'a mut T; an erased lifetime is omitted. */
static bool read_reference(struct rust_name *name, bool is_mutable)
{
    uint64_t lifetime = 0;

    return rust_say(name, "&") && (!rust_eat(name, 'L') || rust_base62(name, &lifetime)) &&
           (!lifetime || (put_lifetime(name, lifetime) && rust_say(name, " "))) &&
           rust_form(name, is_mutable ? "mut %t" : "%t");
}

/* Of types or constants. */
static bool read_tuple(struct rust_name *name, rust_element *element)
{
    int count = rust_say(name, "(") ? rust_list(name, element, true, ", ") : -1;

    return count >= 0 && rust_say(name, count == 1 ? ",)" : ")");
}

static bool read_type(struct rust_name *name)
{
    char tag = *name->at++;

    if (tag >= 'a' && tag <= 'z')
        return *BASIC_TYPES[tag - 'a'] && rust_say(name, BASIC_TYPES[tag - 'a']);
    switch (tag) {
    case 'R':
    case 'Q': return read_reference(name, tag == 'Q');
    case 'P': return rust_form(name, "*const %t");
    case 'O': return rust_form(name, "*mut %t");
    case 'A': return rust_form(name, "[%t; %k]");
    case 'S': return rust_form(name, "[%t]");
    case 'T': return read_tuple(name, rust_type);
    case 'F': return read_function(name);
    case 'D': return read_dyn(name);
    case 'W': return rust_form(name, "%t is ") && rust_pattern(name, false);
    case 'B': return rust_back(name, rust_type, false);
    }
    name->at--;
    return read_path(name, false);
}

static bool rust_type(struct rust_name *name, bool inside)
{
    bool fine = rust_enter(name) && read_type(name);

    (void)inside;
    name->depth--;
    return fine;
}

bool rust_v0(struct rust_name *name)
{
    if (!rust_path(name, true))
        return false;
    if (name->at == name->end || *name->at < 'A' || *name->at > 'Z')
        return true;
    name->silent++;
    bool fine = rust_path(name, false);
    name->silent--;
    return fine;
}

/* v0: constants, which are generic arguments and lengths, and patterns that narrow types. */

int rust_hex(char c)
{
    const int digit = base62_digit(c);

    return digit < 16 ? digit : -1;
}

/* Digits up to a _, possibly none; *digits is where they begin, without leading zeros. */
static bool read_hex(struct rust_name *name, const char **digits, size_t *length)
{
    while (rust_eat(name, '0'))
        ;
    *digits = name->at;
    while (name->at < name->end && rust_hex(*name->at) >= 0)
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
        *value = *value << 4 | (unsigned)rust_hex(*digits++);
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
    int high = name->end - name->at < 2 ? -1 : rust_hex(name->at[0]);
    int low = high < 0 ? -1 : rust_hex(name->at[1]);

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
        uint32_t c = utf8_take(&at, bytes + length);
        if ((!c && *bytes) || at != bytes + length || !put_quoted(name, c, '"'))
            return false;
    }
    return rust_say(name, "\"");
}

/* &value: how strings are written, too. */
static bool read_const_reference(struct rust_name *name, char tag)
{
    if (tag == 'R' && rust_eat(name, 'e'))
        return read_string(name);
    return rust_form(name, tag == 'Q' ? "&mut %k" : "&%k");
}

static bool read_field(struct rust_name *name, bool inside)
{
    return read_crate(name) && rust_say(name, ": ") && rust_const(name, inside);
}

/* Unit, Tuple(value) or Struct { field: value } */
static bool read_variant(struct rust_name *name)
{
    if (!rust_path(name, true))
        return false;
    if (rust_eat(name, 'T'))
        return rust_form(name, "(%K)");
    if (rust_eat(name, 'S'))
        return rust_form(name, " { %F }");
    return rust_eat(name, 'U');
}

/* Anything but a literal; the tag is before name->at. */
static bool read_expression(struct rust_name *name, char tag)
{
    switch (tag) {
    case 'e': return rust_say(name, "*") && read_string(name);
    case 'R':
    case 'Q': return read_const_reference(name, tag);
    case 'A': return rust_form(name, "[%K]");
    case 'T': return read_tuple(name, rust_const);
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

static bool rust_const(struct rust_name *name, bool inside)
{
    bool fine = rust_enter(name) && read_const(name, inside);

    name->depth--;
    return fine;
}

/* Open ranges such as 1..=5; alternatives; !null */
static bool read_pattern(struct rust_name *name)
{
    switch (*name->at++) {
    case 'R': return rust_form(name, "%k..=%k");
    case 'u': return rust_say(name, "!null");
    case 'O': return rust_list(name, rust_pattern, false, " | ") >= 0;
    }
    return false;
}

static bool rust_pattern(struct rust_name *name, bool inside)
{
    bool fine = rust_enter(name) && read_pattern(name);

    (void)inside;
    name->depth--;
    return fine;
}
