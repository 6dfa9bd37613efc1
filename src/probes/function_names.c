/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "probes/function_names.h"

#include <errno.h>
#include <string.h>

#include "symbols/demangle.h"

static const struct demangle_wishes whole = {0}, said = {.without_parameters = true};

/* What is not mangled matches by nothing else. */
static int matches_as(const struct matcher *wanted, const char *symbol,
                      const struct demangle_wishes *wishes, struct text *scratch)
{
    int result = demangle_symbol(symbol, wishes, scratch);

    if (result)
        return result == -ENOMEM ? result : 0;
    return matcher_matches(wanted, scratch->data);
}

int function_matches(const struct matcher *wanted, const char *symbol, struct text *scratch)
{
    if (matcher_matches(wanted, symbol))
        return 1;
    int result = matches_as(wanted, symbol, &whole, scratch);
    return result ? result : matches_as(wanted, symbol, &said, scratch);
}

int function_is_typed(const char *typed, const char *symbol, struct text *scratch)
{
    int result = demangle_symbol(symbol, &whole, scratch);

    if (result)
        return result == -ENOMEM ? result : 0;
    return !strcmp(typed, scratch->data);
}
