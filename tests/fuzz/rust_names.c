/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A Rust name: the result is a complete name without control bytes, or none. */
#include "demangle/rust.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "fuzz.h"

#define LONGEST 65536

/* UTF-8 text without control bytes is unchanged by escaping. */
static void check_harmless(const struct text *name)
{
    struct text escaped = {0};

    escape_bytes(&escaped, name->data, name->length);
    ALWAYS(escaped.length == name->length && !memcmp(escaped.data, name->data, name->length));
    text_free(&escaped);
}

static int ask(const char *mangled, size_t length, struct demangle_options config, struct text *to)
{
    text_clear(to);
    int result = rust_demangle(mangled, length, &config, to);
    ALWAYS(!result || result == -EINVAL);
    ALWAYS(to->length <= LONGEST && to->room <= 2 * LONGEST);
    if (!result) {
        ALWAYS(to->length && strlen(to->data) == to->length);
        check_harmless(to);
    }
    return result;
}

/* The plain name is the beginning of the whole one, and only suffixes follow. */
static void check_alone(const struct text *whole, const struct text *alone)
{
    ALWAYS(alone->length <= whole->length && !memcmp(alone->data, whole->data, alone->length));
    ALWAYS(alone->length == whole->length || !strncmp(whole->data + alone->length, " (", 2));
}

/* Shortened or not, it is still a name, unless its dots made it too long. */
static void check_short(const struct text *whole, const struct text *brief, int result)
{
    size_t least = strcspn(whole->data, "<");

    ALWAYS(!result || whole->length > LONGEST / 4);
    ALWAYS(result || (brief->length >= least && !memcmp(brief->data, whole->data, least)));
}

/* A name of some dozen bytes may take 128 KB, three times. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {1 << 20, 64, 0},
    [FUZZ_READS] = {1, 0, 0},
    [FUZZ_TIME] = {20000, 40, 0},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    static struct text whole, other;
    const char *mangled = (const char *)data;

    if (!ask(mangled, size, (struct demangle_options){0}, &whole)) {
        ALWAYS(!ask(mangled, size, (struct demangle_options){.without_parameters = true}, &other));
        check_alone(&whole, &other);
        int result = ask(mangled, size, (struct demangle_options){.shorten = true}, &other);
        check_short(&whole, &other, result);
    } else {
        ask(mangled, size, (struct demangle_options){.shorten = true}, &other);
    }
}
