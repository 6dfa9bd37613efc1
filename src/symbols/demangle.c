/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbols/demangle.h"

#include <errno.h>
#include <string.h>

#include "symbols/cxx.h"
#include "symbols/rust.h"

/* The older of Rust's manglings looks like C++: what is not quite like it is that. */
int demangle(const char *name, size_t length, const struct demangle_wishes *wishes,
             struct text *to)
{
    /* A block's function in clang is called by the function's name, with two more. */
    const bool is_block = length > 4 && !memcmp(name, "___Z", 4);

    text_clear(to);
    if (!is_block && (length < 2 || name[0] != '_' || (name[1] != 'Z' && name[1] != 'R')))
        return -EINVAL;
    if (memchr(name, '\0', length))
        return -EINVAL;
    int result = is_block ? -EINVAL : rust_demangle(name, length, wishes, to);
    if (result == -EINVAL && name[1] != 'R') {
        text_clear(to);
        result = cxx_demangle(name, length, wishes, to);
    }
    if (!result && to->failed)
        result = -ENOMEM;
    if (result)
        text_clear(to);
    return result;
}

int demangle_symbol(const char *name, const struct demangle_wishes *wishes, struct text *to)
{
    const char *at = strchrnul(name, '@');
    int result = demangle(name, (size_t)(at - name), wishes, to);

    if (!result)
        text_add(to, at);
    return !result && to->failed ? -ENOMEM : result;
}
