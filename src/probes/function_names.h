/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Whether a pattern means a function: by its name as the symbol table has it, as its source has it
 * ("A::f(int)"), or as people say it, without return type and parameters ("A::f").
 */
#ifndef STACKBOX_PROBES_FUNCTION_NAMES_H
#define STACKBOX_PROBES_FUNCTION_NAMES_H

#include "probes/pattern.h"

/* `scratch` is the caller's, kept from call to call. 1, 0 or -ENOMEM. */
int function_matches(const struct matcher *wanted, const char *symbol, struct text *scratch);

/*
 * Whether `typed` is the whole name of a function in its source, though its * would make it a
 * pattern: "f(char*)". 1, 0 or -ENOMEM.
 */
int function_is_typed(const char *typed, const char *symbol, struct text *scratch);

#endif
