/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rust's names: legacy (_ZN...17h<hash>E, rust.c) and v0 (_R..., rust_v0.c). */
#ifndef STACKBOX_DEMANGLE_RUST_H
#define STACKBOX_DEMANGLE_RUST_H

#include <stdint.h>
#include <sys/types.h>

#include "demangle/demangle.h"

/* See demangle(); `to` is empty. */
int rust_demangle(const char *name, size_t length, const struct demangle_options *options,
                  struct text *to);

/*
 * Punycode (RFC 3492): any text in letters, digits and one delimiter. Decodes `bytes` into
 * `characters`, which has space for `room`. `delimiter` replaces the RFC's hyphen. Returns how many
 * characters there are, or -EINVAL: this is not punycode, a character is not in Unicode, or there
 * are more than `room`.
 */
ssize_t punycode_decode(const char *bytes, size_t length, char delimiter, uint32_t *characters,
                        size_t room);

/* A longer name is rejected: back references could make it grow without end. */
#define RUST_LONGEST 65536

/*
 * A name being read, of either mangling. A function that returns bool returns false for an invalid
 * name, which is then read no further.
 */
struct rust_name {
    const char *start; /* back references count from here */
    const char *at, *end;
    struct text *to;
    bool shorten;
    unsigned silent;    /* not 0: what is read is checked, but not printed */
    unsigned depth;     /* of nested paths, types and constants */
    unsigned steps;     /* how many of those were read, repeats included */
    uint64_t lifetimes; /* bound by for<...> around what is being read */
    bool open;          /* the path of a trait just read has a < but no > yet */
};

/* Adds to the text, unless it would become too long. */
bool rust_put(struct rust_name *name, const char *bytes, size_t length);
bool rust_say(struct rust_name *name, const char *string);
/* Allowed in a name: no surrogates, no control or formatting characters. */
bool rust_is_character(uint32_t character);
/* A character that is allowed. */
bool rust_put_character(struct rust_name *name, uint32_t character);

static inline bool rust_eat(struct rust_name *name, char c)
{
    bool is_there = name->at < name->end && *name->at == c;

    name->at += is_there;
    return is_there;
}

/* v0, name->at being after _R: the path and the crate that has the instance of it. */
bool rust_v0(struct rust_name *name);

/* What a hexadecimal digit in small letters is worth; -1: it is none. */
int rust_hex(char c);
/* A decimal number without leading zeros. */
bool rust_decimal(struct rust_name *name, size_t *number);

#endif
