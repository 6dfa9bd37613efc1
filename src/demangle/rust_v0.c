/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rust's v0 mangling: paths and types. An upper case tag says what follows; no tag means two things
 * in one place. The output is what rustc prints for a name in a backtrace: without crates' hashes,
 * and without where an impl is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "demangle/rust_parts.h"

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

/* After the L. */
static bool read_lifetime(struct rust_name *name)
{
    uint64_t index;

    return rust_base62(name, &index) && put_lifetime(name, index);
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
    if (rust_eat(name, 'L'))
        return read_lifetime(name);
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
    return rust_say(name, "<") && rust_type(name, false) &&
           (tag == 'M' || (rust_say(name, " as ") && rust_path(name, false))) &&
           rust_say(name, ">");
}

static bool read_generic(struct rust_name *name, bool inside)
{
    return rust_path(name, inside) && (!inside || rust_say(name, "::")) &&
           open_arguments(name) && rust_list(name, read_argument, false) >= 0 &&
           close_arguments(name);
}

static bool read_crate(struct rust_name *name)
{
    struct rust_identifier identifier;
    uint64_t disambiguator;

    return rust_tagged(name, 's', &disambiguator) && rust_identifier(name, &identifier) &&
           rust_put_identifier(name, &identifier);
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
    case 'I': return read_generic(name, inside);
    case 'B': return rust_back(name, rust_path, inside);
    }
    return false;
}

bool rust_path(struct rust_name *name, bool inside)
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
        (rust_eat(name, 'K') && !read_abi(name)) || !rust_say(name, "fn(") ||
        rust_list(name, rust_type, false) < 0 || !rust_say(name, ")"))
        return false;
    if (!rust_eat(name, 'u') && (!rust_say(name, " -> ") || !rust_type(name, false)))
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
               rust_list(name, read_argument, false) >= 0;
        name->open = true;
    } else {
        fine = rust_path(name, false);
    }
    name->depth--;
    return fine;
}

/* Trait<A, Item = B> */
static bool read_bound(struct rust_name *name)
{
    struct rust_identifier identifier;

    if (!read_open_path(name, false))
        return false;
    bool is_open = name->open;
    while (rust_eat(name, 'p')) {
        if (!(is_open ? rust_say(name, ", ") : open_arguments(name)))
            return false;
        is_open = true;
        if (!rust_identifier(name, &identifier) || !rust_put_identifier(name, &identifier) ||
            !rust_say(name, " = ") ||
            !(rust_eat(name, 'K') ? rust_const(name, false) : rust_type(name, false)))
            return false;
    }
    return !is_open || close_arguments(name);
}

/* dyn for<'a> Trait + Other + 'a */
static bool read_dyn(struct rust_name *name)
{
    uint64_t outside = name->lifetimes, lifetime;

    if (!rust_say(name, "dyn ") || !read_binder(name))
        return false;
    for (bool is_first = true; !rust_eat(name, 'E'); is_first = false)
        if ((!is_first && !rust_say(name, " + ")) || !read_bound(name))
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
           (!is_mutable || rust_say(name, "mut ")) && rust_type(name, false);
}

static bool read_tuple(struct rust_name *name)
{
    int count = rust_say(name, "(") ? rust_list(name, rust_type, false) : -1;

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
    case 'P': return rust_say(name, "*const ") && rust_type(name, false);
    case 'O': return rust_say(name, "*mut ") && rust_type(name, false);
    case 'A':
        return rust_say(name, "[") && rust_type(name, false) && rust_say(name, "; ") &&
               rust_const(name, true) && rust_say(name, "]");
    case 'S': return rust_say(name, "[") && rust_type(name, false) && rust_say(name, "]");
    case 'T': return read_tuple(name);
    case 'F': return read_function(name);
    case 'D': return read_dyn(name);
    case 'W':
        return rust_type(name, false) && rust_say(name, " is ") && rust_pattern(name, false);
    case 'B': return rust_back(name, rust_type, false);
    }
    name->at--;
    return read_path(name, false);
}

bool rust_type(struct rust_name *name, bool inside)
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
