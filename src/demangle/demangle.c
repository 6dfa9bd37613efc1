/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "demangle/demangle.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "demangle/cxx.h"
#include "demangle/rust.h"

/* Is one of these eight bytes that one: 0 if none is. */
static uint64_t have(uint64_t eight, unsigned char byte)
{
    const uint64_t each = UINT64_MAX / 0xff;
    const uint64_t zeros = eight ^ each * byte;

    return (zeros - each) & ~zeros & each << 7;
}

/* Finds in one pass over a name's bytes all that demangle() checks for. */
static void look(const char *name, size_t length, bool *has_end, bool *has_ending)
{
    uint64_t end = 0, ending = 0, eight;
    size_t at = 0;

    for (; length - at >= sizeof(eight); at += sizeof(eight)) {
        memcpy(&eight, name + at, sizeof(eight));
        end |= have(eight, '\0');
        ending |= have(eight, '.') | have(eight, '$');
    }
    eight = UINT64_MAX;
    memcpy(&eight, name + at, length - at);
    *has_end = end | have(eight, '\0');
    *has_ending = ending | have(eight, '.') | have(eight, '$');
}

/* Most names that begin like Rust's legacy mangling are C++: they lack the hash at the end. */
static bool may_be_rust(const char *name, size_t length, bool has_ending)
{
    static const char hash[] = "17h0123456789abcdefE";
    const size_t hash_length = sizeof(hash) - 1;

    if (name[1] == 'R' || has_ending)
        return true;
    return length > hash_length && name[length - 1] == 'E' &&
           !memcmp(name + length - hash_length, hash, 3);
}

/* Rust's legacy mangling looks like C++: names that do not quite fit it are C++. */
int demangle(const char *name, size_t length, const struct demangle_options *options,
             struct text *to)
{
    /* clang names a block's function after its function, with two more underscores. */
    const bool is_block = length > 4 && !memcmp(name, "___Z", 4);
    bool has_end, has_ending;
    int result = -EINVAL;

    text_clear(to);
    if (!is_block && (length < 2 || name[0] != '_' || (name[1] != 'Z' && name[1] != 'R')))
        return -EINVAL;
    look(name, length, &has_end, &has_ending);
    if (has_end)
        return -EINVAL;
    if (!is_block && may_be_rust(name, length, has_ending))
        result = rust_demangle(name, length, options, to);
    if (result == -EINVAL && name[1] != 'R') {
        text_clear(to);
        result = cxx_demangle(name, length, options, to);
    }
    if (!result && to->failed)
        result = -ENOMEM;
    if (result)
        text_clear(to);
    return result;
}

int demangle_symbol(const char *name, const struct demangle_options *options, struct text *to)
{
    const char *at = strchrnul(name, '@');
    int result = demangle(name, (size_t)(at - name), options, to);

    if (!result)
        text_add(to, at);
    return !result && to->failed ? -ENOMEM : result;
}
