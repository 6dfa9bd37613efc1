/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Checks of unpackers, shared by the tests of both formats. */
#ifndef STACKBOX_UNPACKING_H
#define STACKBOX_UNPACKING_H

#include "test.h"
#include "unpack/unpack.h"

#define PLENTY 100000

/* With exactly its size, so that reads past its end are seen. */
static inline int unpack(int (*by)(const unsigned char *, size_t, size_t, struct text *),
                         const void *bytes, size_t size, size_t most, struct text *to)
{
    unsigned char *copy = malloc(size ? size : 1);

    CHECK(copy != NULL);
    memcpy(copy, bytes, size);
    int result = by(copy, size, most, to);
    free(copy);
    return result;
}

static inline void check_text(int (*by)(const unsigned char *, size_t, size_t, struct text *),
                              const void *bytes, size_t size, const char *expected)
{
    struct text text = {0};

    CHECK_NUMBER(unpack(by, bytes, size, PLENTY, &text), 0);
    CHECK_STRING(text.data, expected);
    CHECK_NUMBER(text.length, strlen(expected));
    text_free(&text);
}

static inline int result_of(int (*by)(const unsigned char *, size_t, size_t, struct text *),
                            const void *bytes, size_t size)
{
    struct text text = {0};
    int result = unpack(by, bytes, size, PLENTY, &text);

    text_free(&text);
    return result;
}

#endif
