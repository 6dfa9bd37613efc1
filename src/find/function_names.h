/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Whether a pattern means a function: by its name as the symbol table has it, as its source has it
 * ("A::f(int)"), or as people say it, without return type and parameters ("A::f"). That is not the name of pieces which
 * compilers cut off it (.cold, .part).
 */
#ifndef STACKBOX_FIND_FUNCTION_NAMES_H
#define STACKBOX_FIND_FUNCTION_NAMES_H

#include "find/pattern.h"

/* `scratch` is the caller's, kept from call to call. 1, 0 or -ENOMEM. */
int function_matches(const struct matcher *wanted, const char *symbol, struct text *scratch);

/*
 * Whether `typed` is a function's name in its source, whole or as people say it, though its * makes it
 * a pattern: "f(char*)", "A<char*>::f", "A::operator*". 1, 0 or -ENOMEM.
 */
int function_is_typed(const struct matcher *typed, const char *symbol, struct text *scratch);

#endif
