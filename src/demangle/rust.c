/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "demangle/rust.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"
#include "demangle/rust_parts.h"

bool rust_put(struct rust_name *name, const char *bytes, size_t length)
{
    if (name->silent)
        return true;
    if (length > RUST_LONGEST - name->to->length)
        return false;
    text_append(name->to, bytes, length);
    return !name->to->failed;
}

bool rust_say(struct rust_name *name, const char *string)
{
    return rust_put(name, string, strlen(string));
}

/*
 * Characters that turn the direction of text, or are invisible, could make one name look like
 * another.
 */
static bool is_formatting(uint32_t c)
{
    return (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

bool rust_is_character(uint32_t c)
{
    return c >= 0x20 && (c < 0x7f || c >= 0xa0) && (c < 0xd800 || c >= 0xe000) &&
           c <= 0x10ffff && !is_formatting(c);
}

bool rust_put_character(struct rust_name *name, uint32_t c)
{
    char bytes[4];
    size_t length = 0;

    if (c < 0x80) {
        bytes[length++] = (char)c;
    } else {
        unsigned more = 1 + (c >= 0x800) + (c >= 0x10000);
        bytes[length++] = (char)(0xff00 >> (more + 1) | c >> 6 * more);
        while (more--)
            bytes[length++] = (char)(0x80 | (c >> 6 * more & 0x3f));
    }
    return rust_put(name, bytes, length);
}

/* Compilers' suffixes, printed as LLVM, which adds them, does: f (.llvm.123.cold). */
static bool put_endings(struct rust_name *name)
{
    const char *const first = name->at;

    if (name->at == name->end)
        return true;
    if (*first != '.' && *first != '$')
        return false;
    for (; name->at < name->end; name->at++)
        if (!isgraph((unsigned char)*name->at))
            return false;
    return rust_say(name, " (") && rust_put(name, first, (size_t)(name->at - first)) &&
           rust_say(name, ")");
}

int rust_demangle(const char *name, size_t length, const struct demangle_wishes *wishes,
                  struct text *to)
{
    struct rust_name state = {
        .at = name, .end = name + length, .to = to, .shorten = wishes->shorten};
    bool is_v0 = rust_eat(&state, '_') && rust_eat(&state, 'R');
    bool fine;

    if (is_v0) {
        state.start = state.at;
        fine = rust_v0(&state);
    } else {
        fine = rust_eat(&state, 'Z') && rust_eat(&state, 'N') && rust_legacy(&state);
    }
    state.silent = wishes->without_parameters;
    fine = fine && to->length && put_endings(&state);
    if (to->failed)
        return -ENOMEM;
    return fine ? 0 : -EINVAL;
}
