/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the parts of the reader of Rust's names share: see rust.h. */
#ifndef STACKBOX_DEMANGLE_RUST_PARTS_H
#define STACKBOX_DEMANGLE_RUST_PARTS_H

#include <stdint.h>

#include "base/text.h"

/* A name that would be longer is none: what refers back to itself can grow without end. */
#define RUST_LONGEST 65536

/*
 * A name that is being read, of either mangling. What returns a bool is false for what is no such
 * name, and then nothing more is read of it.
 */
struct rust_name {
    const char *start; /* what references back count from */
    const char *at, *end;
    struct text *to;
    bool shorten;
    unsigned silent;    /* not 0: what is read is checked and not printed */
    unsigned depth;     /* of paths, types and constants within each other */
    unsigned steps;     /* how many of those were read, some of them again and again */
    uint64_t lifetimes; /* that are bound by a for<...> around what is read */
    bool open;          /* the path of a trait just read has a < and no > yet */
};

/* Adds to the text, unless it becomes too long. */
bool rust_put(struct rust_name *name, const char *bytes, size_t length);
bool rust_say(struct rust_name *name, const char *string);
/* What may be in a name: no surrogates, no control and formatting characters. */
bool rust_is_character(uint32_t character);
/* A character that may. */
bool rust_put_character(struct rust_name *name, uint32_t character);

static inline bool rust_eat(struct rust_name *name, char c)
{
    bool is_there = name->at < name->end && *name->at == c;

    name->at += is_there;
    return is_there;
}

/* The older mangling, name->at being behind _ZN: up to the E, which is left behind name->at. */
bool rust_legacy(struct rust_name *name);

/* v0, name->at being behind _R: the path and the crate that has the instance of it. */
bool rust_v0(struct rust_name *name);

/* Numbers and identifiers of v0: rust_v0_reader.c. */
bool rust_decimal(struct rust_name *name, size_t *number);
bool rust_base62(struct rust_name *name, uint64_t *number);
/* The number behind `tag`, plus one; 0 where there is no tag. */
bool rust_tagged(struct rust_name *name, char tag, uint64_t *number);

struct rust_identifier {
    const char *bytes;
    size_t length;
    bool is_punycode;
};

bool rust_identifier(struct rust_name *name, struct rust_identifier *identifier);
/* A character of UTF-8 that is as short as it can be; 0 where there is none. */
uint32_t rust_next_character(const char **at, const char *end);
bool rust_put_identifier(struct rust_name *name, const struct rust_identifier *identifier);

/* One thing of the grammar: a path, a type, a constant. `inside`: see each. */
typedef bool rust_element(struct rust_name *name, bool inside);

/* Things up to an E, with commas; how many there were, or -1. */
int rust_list(struct rust_name *name, rust_element *element, bool inside);
/* The element that a B refers back to, the B being read. */
bool rust_back(struct rust_name *name, rust_element *element, bool inside);
/* Around what is read within other things: false where it is too deep or too much. */
bool rust_enter(struct rust_name *name);

/* inside: an expression, where generic arguments stand behind ::< */
rust_element rust_path;
/* inside: has no meaning */
rust_element rust_type;
rust_element rust_pattern;
/* inside: an expression, which needs no { } around it */
rust_element rust_const;

#endif
