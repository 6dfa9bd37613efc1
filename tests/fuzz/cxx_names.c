/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * C++ names, one per line: each is accepted or refused, the same way each time, in little memory. A
 * name that can be printed can also be printed without its arguments, and by its name only.
 */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "demangle/cxx.h"
#include "fuzz.h"

/* The longest result, and what suffixes add: " [clone ]" for each two bytes. */
#define MOST_BYTES (128 * 1024)
#define MOST_OF_ENDING 6

static int demangle_once(const char *name, size_t length, struct demangle_options config,
                         struct text *to)
{
    text_clear(to);
    int result = cxx_demangle(name, length, &config, to);
    ALWAYS(result == 0 || result == -EINVAL || result == -ENOMEM);
    if (result) {
        ALWAYS(!to->length && (!to->data || !to->data[0]));
        return result;
    }
    ALWAYS(to->length && to->length <= MOST_BYTES + MOST_OF_ENDING * length);
    ALWAYS(to->room > to->length && !to->data[to->length]);
    return 0;
}

static void check_name(const char *name, size_t length)
{
    struct text first = {0}, again = {0}, other = {0};
    int result = demangle_once(name, length, (struct demangle_options){0}, &first);
    ALWAYS(demangle_once(name, length, (struct demangle_options){0}, &again) == result);
    ALWAYS(result || (first.length == again.length &&
                      !memcmp(first.data, again.data, first.length)));
    int shortened = demangle_once(name, length, (struct demangle_options){.shorten = true}, &other);
    /* A name that was too long may be shown without arguments; any name may be shown shorter. */
    ALWAYS(result || !shortened);
    int bare = demangle_once(name, length, (struct demangle_options){.without_parameters = true},
                             &other);
    ALWAYS(result || (!bare && other.length <= first.length));
    demangle_once(name, length,
                  (struct demangle_options){.shorten = true, .without_parameters = true}, &other);
    text_free(&first);
    text_free(&again);
    text_free(&other);
}

/* A name of some dozen bytes may take 128 KB, three times. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {1 << 20, 64, 0},
    [FUZZ_READS] = {1, 0, 0},
    [FUZZ_TIME] = {20000, 40, 0},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    while (size) {
        const uint8_t *newline = memchr(data, '\n', size);
        size_t length = newline ? (size_t)(newline - data) : size;
        /* A copy of exactly that size: AddressSanitizer sees reads past its end. */
        char *name = malloc(length ? length : 1);
        ALWAYS(name);
        memcpy(name, data, length);
        check_name(name, length);
        free(name);
        size -= newline ? length + 1 : length;
        data += newline ? length + 1 : length;
    }
}
