/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rust's legacy mangling: a nested C++ name whose last part is a hash. Characters that identifiers
 * lack are written as $..$, and :: as two dots.
 */
#include <ctype.h>
#include <string.h>

#include "demangle/rust_parts.h"

#include "base/text.h"
#include "base/util.h"

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
        if (!isdigit((unsigned char)*at) && (*at < 'a' || *at > 'f'))
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
            if (!isdigit((unsigned char)*at) && (*at < 'a' || *at > 'f'))
                return 0;
            c = c << 4 | (((unsigned)*at & 15) + (*at > '9' ? 9 : 0));
        }
        if (!rust_is_character(c))
            return 0;
    }
    if (c)
        part->at = last + 1;
    return c;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c & 0x80;
}

/* Does an argument list begin after what was just printed? That of for<'a> is not one. */
static bool begins_arguments(const struct text *to)
{
    size_t length = to->length;

    if (!length || !is_word(to->data[length - 1]))
        return false;
    return length < 3 || memcmp(to->data + length - 3, "for", 3) ||
           (length > 3 && is_word(to->data[length - 4]));
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

bool rust_legacy(struct rust_name *name)
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
