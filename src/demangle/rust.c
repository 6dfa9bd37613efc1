/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "demangle/rust.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

bool rust_put(struct rust_name *name, const char *bytes, size_t length)
{
    if (name->silent)
        return true;
    if (length > RUST_LONGEST - name->to->length)
        return false;
    text_append(name->to, bytes, length);
    return !name->to->failed;
}

bool rust_say(struct rust_name *name, const char *string)
{
    return rust_put(name, string, strlen(string));
}

/*
 * Characters that change the direction of text, or are invisible: they could make one name look
 * like another.
 */
static bool is_formatting(uint32_t c)
{
    return (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

bool rust_is_character(uint32_t c)
{
    return c >= 0x20 && (c < 0x7f || c >= 0xa0) && (c < 0xd800 || c >= 0xe000) &&
           c <= 0x10ffff && !is_formatting(c);
}

bool rust_put_character(struct rust_name *name, uint32_t c)
{
    char bytes[4];
    size_t length = 0;

    if (c < 0x80) {
        bytes[length++] = (char)c;
    } else {
        unsigned more = 1 + (c >= 0x800) + (c >= 0x10000);
        bytes[length++] = (char)(0xff00 >> (more + 1) | c >> 6 * more);
        while (more--)
            bytes[length++] = (char)(0x80 | (c >> 6 * more & 0x3f));
    }
    return rust_put(name, bytes, length);
}

/* Compilers' suffixes, printed as LLVM, which adds them, does: f (.llvm.123.cold). */
static bool put_endings(struct rust_name *name)
{
    const char *const first = name->at;

    if (name->at == name->end)
        return true;
    if (*first != '.' && *first != '$')
        return false;
    for (; name->at < name->end; name->at++)
        if (!isgraph((unsigned char)*name->at))
            return false;
    return rust_say(name, " (") && rust_put(name, first, (size_t)(name->at - first)) &&
           rust_say(name, ")");
}

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

/*
 * Rust's legacy mangling: a nested C++ name whose last part is a hash. Characters that identifiers
 * lack are written as $..$, and :: as two dots.
 */

#define HASH_LENGTH 17

static const struct {
    char code[3];
    char character;
} ESCAPES[] = {{"SP", '@'}, {"BP", '*'}, {"RF", '&'}, {"LT", '<'},
               {"GT", '>'}, {"LP", '('}, {"RP", ')'}, {"C", ','}};

/* A part of the path, and how far it has been read. */
struct part {
    const char *at, *end;
    unsigned folded; /* how many < are open within an omitted <...> */
};

static bool next_part(struct rust_name *name, struct part *part)
{
    size_t length;

    if (!rust_decimal(name, &length) || !length || length > (size_t)(name->end - name->at))
        return false;
    *part = (struct part){.at = name->at, .end = name->at + length};
    name->at += length;
    return true;
}

static bool is_hash(const struct part *part)
{
    if (part->end - part->at != HASH_LENGTH || *part->at != 'h')
        return false;
    for (const char *at = part->at + 1; at < part->end; at++)
        if (rust_hex(*at) < 0)
            return false;
    return true;
}

/* The number of parts before the hash; 0: this is not a Rust name. */
static size_t count_parts(struct rust_name name)
{
    struct part part = {0};
    size_t count = 0;

    while (!rust_eat(&name, 'E')) {
        if (!next_part(&name, &part))
            return 0;
        for (const char *at = part.at; at < part.end; at++)
            if (*at & 0x80 || (!isalnum((unsigned char)*at) && !memchr("_.$", *at, 3)))
                return 0;
        count++;
    }
    return count && is_hash(&part) ? count - 1 : 0;
}

/* The character for $..$; 0: none, it stands for itself. */
static uint32_t read_escape(struct part *part)
{
    const char *first = part->at + 1;
    const char *last = memchr(first, '$', (size_t)(part->end - first));
    size_t length = last ? (size_t)(last - first) : 0;
    uint32_t c = 0;

    for (size_t i = 0; i < COUNT_OF(ESCAPES); i++)
        if (length == strlen(ESCAPES[i].code) && !memcmp(first, ESCAPES[i].code, length))
            c = (unsigned char)ESCAPES[i].character;
    if (!c && length >= 2 && length <= 7 && *first == 'u') {
        for (const char *at = first + 1; at < last; at++) {
            if (rust_hex(*at) < 0)
                return 0;
            c = c << 4 | (uint32_t)rust_hex(*at);
        }
        if (!rust_is_character(c))
            return 0;
    }
    if (c)
        part->at = last + 1;
    return c;
}

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c & 0x80;
}

/* Does an argument list begin after what was just printed? That of for<'a> is not one. */
static bool begins_arguments(const struct text *to)
{
    size_t length = to->length;

    if (!length || !is_word_byte(to->data[length - 1]))
        return false;
    return length < 3 || memcmp(to->data + length - 3, "for", 3) ||
           (length > 3 && is_word_byte(to->data[length - 4]));
}

/* < and >, between which --shorten prints three dots. */
static bool put_bracket(struct rust_name *name, struct part *part, char bracket)
{
    if (part->folded) {
        part->folded += bracket == '<' ? 1 : -1;
        if (part->folded)
            return true;
        name->silent = 0;
    } else if (name->shorten && bracket == '<' && begins_arguments(name->to)) {
        part->folded = 1;
        name->silent = rust_say(name, "<...");
        return name->silent;
    }
    return rust_put(name, &bracket, 1);
}

/* A dot: ::, the -> of a function's type, or itself. */
static bool put_dot(struct rust_name *name, struct part *part)
{
    size_t left = (size_t)(part->end - part->at);

    if (left > 1 && part->at[1] == '.') {
        part->at += 2;
        return rust_say(name, "::");
    }
    if (left > 4 && !memcmp(part->at + 1, "$GT$", 4)) {
        part->at += 5;
        return rust_say(name, "->");
    }
    part->at++;
    return rust_say(name, ".");
}

static bool put_part(struct rust_name *name, struct part *part)
{
    if (part->end - part->at > 1 && part->at[0] == '_' && part->at[1] == '$')
        part->at++;
    while (part->at < part->end) {
        size_t plain = 0, left = (size_t)(part->end - part->at);
        while (plain < left && part->at[plain] != '$' && part->at[plain] != '.')
            plain++;
        bool fine = rust_put(name, part->at, plain);
        part->at += plain;
        if (!fine || part->at == part->end)
            return fine;
        uint32_t c = *part->at == '$' ? read_escape(part) : 0;
        if (c == '<' || c == '>')
            fine = put_bracket(name, part, (char)c);
        else if (c)
            fine = rust_put_character(name, c);
        else if (*part->at == '.')
            fine = put_dot(name, part);
        else /* not a known escape: the rest may have none */
            return rust_put(name, part->at, (size_t)(part->end - part->at));
        if (!fine)
            return false;
    }
    return true;
}

/* All parts but the hash; *odd: not all omitted brackets are closed. */
static bool put_parts(struct rust_name *name, size_t count, bool *odd)
{
    struct part part;

    for (size_t i = 0; i < count; i++) {
        if (!next_part(name, &part) || (i && !rust_say(name, "::")) || !put_part(name, &part))
            return false;
        *odd = *odd || part.folded;
        name->silent = 0;
    }
    return next_part(name, &part) && rust_eat(name, 'E');
}

/* The legacy mangling, name->at being after _ZN: up to and including the E. */
static bool rust_legacy(struct rust_name *name)
{
    size_t count = count_parts(*name);
    struct rust_name again = *name;
    bool odd = false;

    if (!count || !put_parts(name, count, &odd))
        return false;
    if (!odd)
        return true;
    text_clear(name->to);
    *name = again;
    name->shorten = false;
    return put_parts(name, count, &odd);
}

int rust_demangle(const char *name, size_t length, const struct demangle_options *options,
                  struct text *to)
{
    struct rust_name state = {
        .at = name, .end = name + length, .to = to, .shorten = options->shorten};
    bool is_v0 = rust_eat(&state, '_') && rust_eat(&state, 'R');
    bool fine;

    if (is_v0) {
        state.start = state.at;
        fine = rust_v0(&state);
    } else {
        fine = rust_eat(&state, 'Z') && rust_eat(&state, 'N') && rust_legacy(&state);
    }
    state.silent = options->without_parameters;
    fine = fine && to->length && put_endings(&state);
    if (to->failed)
        return -ENOMEM;
    return fine ? 0 : -EINVAL;
}
