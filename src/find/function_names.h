/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Does a pattern mean a function: by its name in the symbol table, by its name in the source
 * ("A::f(int)"), or by that without return type and parameters ("A::f")? Pieces that compilers
 * split off (.cold, .part) do not have their function's name.
 */
#ifndef STACKBOX_FIND_FUNCTION_NAMES_H
#define STACKBOX_FIND_FUNCTION_NAMES_H

#include "find/pattern.h"

/* `scratch` is the caller's, kept between calls. 1, 0 or -ENOMEM. */
int function_matches(const struct matcher *wanted, const char *symbol, struct text *scratch);

/*
 * Is `typed` a function's name in the source, whole or without its types, although its * makes it a
 * pattern: "f(char*)", "A<char*>::f", "A::operator*"? 1, 0 or -ENOMEM.
 */
int function_is_typed(const struct matcher *typed, const char *symbol, struct text *scratch);

#endif
