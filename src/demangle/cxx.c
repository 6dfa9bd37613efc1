/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "demangle/cxx.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "demangle/cxx_nodes.h"
#include "demangle/cxx_print.h"

/* Compilers make no longer names. */
#define LONGEST (128 * 1024)

static bool is_clone_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
           cxx_is_digit(byte);
}

/* .isra, .isra.0, .0, .__uniq.1.2: the length of the suffix added by one pass of a compiler. */
static size_t clone_length(const char *at, const char *end)
{
    const char *first = at;

    if (end - at < 2 || *at != '.' || !is_clone_letter(at[1]))
        return 0;
    for (at++; at < end && is_clone_letter(*at); at++)
        ;
    while (end - at > 1 && *at == '.' && cxx_is_digit(at[1]))
        for (at++; at < end && cxx_is_digit(*at); at++)
            ;
    return (size_t)(at - first);
}

static bool are_clones(const char *at, const char *end)
{
    while (at < end) {
        size_t length = clone_length(at, end);
        if (!length)
            return false;
        at += length;
    }
    return true;
}

static void add_clones(const char *at, const char *end, struct text *to)
{
    while (at < end) {
        size_t length = clone_length(at, end);
        text_add(to, " [clone ");
        text_append(to, at, length);
        text_add(to, "]");
        at += length;
    }
}

/* _block_invoke, _block_invoke_2, _block_invoke.2: the code of a block in a function. */
static bool take_block(struct cxx *cxx)
{
    static const char ending[] = "_block_invoke";
    size_t length = sizeof(ending) - 1;
    uint32_t number;

    if ((size_t)(cxx->end - cxx->at) < length || memcmp(cxx->at, ending, length))
        return false;
    cxx->at += length;
    if (cxx_take(cxx, '_') && !cxx_number(cxx, &number))
        return false;
    return true;
}

/* The whole name, up to its clones; 0 with an error. */
static uint32_t read_name(struct cxx *cxx, bool is_block)
{
    cxx->at += is_block ? 4 : 2;
    uint32_t number = cxx_encoding(cxx);
    if (number && (is_block ? !take_block(cxx) : false))
        number = 0;
    return number && are_clones(cxx->at, cxx->end) && !cxx->error ? number : 0;
}

static int show_name(const struct cxx *cxx, uint32_t number, bool is_block,
                     const struct demangle_wishes *wishes, struct text *to)
{
    bool is_bare = wishes->without_parameters && cxx_at(cxx, number)->kind == CXX_ENCODING &&
                   cxx_at(cxx, number)->b && !is_block;

    if (is_block)
        text_add(to, "invocation function for block in ");
    int result = cxx_print(cxx, number, wishes, to);
    if (!result && !is_bare)
        add_clones(cxx->at, cxx->end, to);
    return result;
}

int cxx_demangle(const char *name, size_t length, const struct demangle_wishes *wishes,
                 struct text *to)
{
    bool is_block = length > 4 && !memcmp(name, "___Z", 4);
    struct cxx_store store;
    struct cxx cxx = {0};
    uint32_t number;
    int result;

    if (length > LONGEST || length < 3 || (!is_block && (name[0] != '_' || name[1] != 'Z')))
        return -EINVAL;
    do {
        cxx_start(&cxx, &store, name, name + length);
        number = read_name(&cxx, is_block);
    } while (!number && !cxx.error && cxx.has_scope && cxx.scopes++ < CXX_SCOPES_PLAIN);
    result = cxx.error ? cxx.error : -EINVAL;
    if (number)
        result = show_name(&cxx, number, is_block, wishes, to);
    cxx_free(&cxx);
    if (result)
        text_clear(to);
    return result;
}
