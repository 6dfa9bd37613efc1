/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Parses lines of folded stacks. */
#ifndef STACKBOX_DRAW_FOLDED_TEXT_H
#define STACKBOX_DRAW_FOLDED_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* That many bytes after a text are read, but not used: they must exist. */
#define FOLDED_MORE sizeof(uint64_t)

#define FOLDED_UNIT 1000000

struct folded_count {
    uint64_t whole;
    uint32_t millionths;
    bool over; /* more than fits */
};

bool folded_is_blank(char c);

/*
 * Takes blanks and a number off the end of the text between `line` and *end: digits, perhaps with a
 * decimal point. False: there is none.
 */
bool folded_take_count(const char *line, const char **end, struct folded_count *count);

/* The position of the next `;` from `at` on, or `length`. */
size_t folded_find_semicolon(const char *stack, size_t at, size_t length);

/* How many of the first `most` bytes are the same in both. */
size_t folded_common_length(const char *a, const char *b, size_t most);

#endif
