/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/function_names.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "demangle/demangle.h"

static const struct demangle_wishes whole = {0}, said = {.without_parameters = true};

/* Where a compiler's suffix begins in a name: "f() [clone .cold]", in Rust "f (.cold)". */
static const char *added_part(const char *name)
{
    const char *clone = strstr(name, " [clone ");

    return clone ? clone : strstr(name, " (.");
}

/* A piece that was split off a function runs within a call of it: it is not what the name means. */
static bool is_piece(const char *name)
{
    const char *added = added_part(name);

    return added && (strstr(added, ".cold") || strstr(added, ".warm") || strstr(added, ".part."));
}

/* A name that is not mangled matches in no other way. */
static int matches_readable(const struct matcher *wanted, const char *symbol, struct text *scratch)
{
    int result = demangle_symbol(symbol, &whole, scratch);

    if (!result && matcher_matches(wanted, scratch->data))
        return 1;
    if (!result && is_piece(scratch->data))
        return 0;
    if (!result)
        result = demangle_symbol(symbol, &said, scratch);
    if (result)
        return result == -ENOMEM ? result : 0;
    return matcher_matches(wanted, scratch->data);
}

int function_matches(const struct matcher *wanted, const char *symbol, struct text *scratch)
{
    return matcher_matches(wanted, symbol) ? 1 : matches_readable(wanted, symbol, scratch);
}

int function_is_typed(const struct matcher *typed, const char *symbol, struct text *scratch)
{
    const struct matcher plain = {.kind = MATCH_PLAIN, .text = typed->text};

    if (matcher_matches(&plain, symbol)) /* Go's: main.(*T).f */
        return 1;
    return may_have_star(typed->text) ? matches_readable(&plain, symbol, scratch) : 0;
}
