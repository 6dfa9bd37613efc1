/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What lines of folded stacks are taken apart with. */
#ifndef STACKBOX_DRAW_FOLDED_TEXT_H
#define STACKBOX_DRAW_FOLDED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many bytes behind a text are looked at, and not used: they must be there. */
#define FOLDED_MORE sizeof(uint64_t)

#define FOLDED_UNIT 1000000

struct folded_count {
    uint64_t whole;
    uint32_t millionths;
    bool over; /* more than fits */
};

bool folded_is_blank(char c);

/*
 * Takes blanks and a number off the end of what is between `line` and *end: digits, and perhaps a
 * point and more of them. False: there is none.
 */
bool folded_take_count(const char *line, const char **end, struct folded_count *count);

/* Where from `at` on the next `;` is, or `length`. */
size_t folded_find_semicolon(const char *stack, size_t at, size_t length);

/* How many bytes are the same in both, of `most`. */
size_t folded_common_length(const char *a, const char *b, size_t most);

#endif
