/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Regular expressions, and names to search in, one per line below: each is accepted or refused with
 * a reason, and what is found is found again, in time limited by both lengths (libFuzzer has a
 * clock for that). If the C library gives the expression the same meaning, it finds the same.
 */
#include "find/expression.h"

#include <errno.h>
#include <regex.h>
#include <string.h>

#include "fuzz.h"

#define MOST_COMPARED 40 /* libc's may take unbounded time */

/* Parts whose meaning is the same everywhere. */
static bool is_plain(const char *text)
{
    const size_t length = strlen(text);
    size_t open = 0;

    if (!length || length > MOST_COMPARED || text[strspn(text, "abcdef_.^$|*()")])
        return false;
    for (const char *at = text; *at; at++) {
        const char before = at == text ? '(' : at[-1];
        open += *at == '(';
        if (*at == ')' && !open--)
            return false;
        if (strchr("|)", *at) && strchr("(|^", before))
            return false; /* nothing is there */
        if (*at == '*' && strchr("(|^$*", before))
            return false;
        if ((*at == '^' && !strchr("(|", before)) || (*at == '$' && at[1] && !strchr(")|", at[1])))
            return false;
    }
    return !open && text[length - 1] != '|';
}

static void compare(const struct expression *expression, const regex_t *other, const char *name)
{
    const bool found = expression_matches(expression, name);

    ALWAYS(expression_matches(expression, name) == found);
    if (other)
        ALWAYS(found == !regexec(other, name, 0, NULL, 0));
}

static void try_expression(const char *text, char *names)
{
    struct expression expression;
    const char *why = NULL;
    regex_t other;
    int result = expression_make(&expression, text, &why);

    ALWAYS(result == 0 || result == -ENOMEM || (result == -EINVAL && why && *why));
    const bool is_known = is_plain(text) && !regcomp(&other, text, REG_EXTENDED | REG_NOSUB);
    ALWAYS(!is_known || !result);
    for (char *name; !result && (name = strsep(&names, "\n"));)
        compare(&expression, is_known ? &other : NULL, name);
    expression_free(&expression);
    if (is_known)
        regfree(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 2);

    ALWAYS(text);
    memcpy(text, data, size);
    text[size] = text[size + 1] = '\0';
    char *newline = strchr(text, '\n');
    if (newline)
        *newline = '\0';
    try_expression(text, newline ? newline + 1 : text + strlen(text) + 1);
    free(text);
    return 0;
}
