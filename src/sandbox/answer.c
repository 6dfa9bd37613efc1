/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "sandbox/sandbox.h"

#include <stdint.h>
#include <string.h>

#include "base/text.h"

/* ---- Writing ---- */

void answer_put_byte(struct text *answer, unsigned byte)
{
    const char one = (char)byte;

    text_append(answer, &one, 1);
}

void answer_put_number(struct text *answer, uint64_t number)
{
    text_append(answer, (const char *)&number, sizeof(number));
}

void answer_put_bytes(struct text *answer, const char *bytes, size_t length)
{
    const uint32_t size = (uint32_t)length;

    text_append(answer, (const char *)&size, sizeof(size));
    if (size)
        text_append(answer, bytes, size);
    answer->failed = answer->failed || size != length;
}

void answer_put_text(struct text *answer, const struct text *text)
{
    answer_put_bytes(answer, text->data, text->length);
    answer->failed = answer->failed || text->failed;
}

/* ---- Reading ---- */

static const char *take(struct answer *answer, size_t size)
{
    const char *at = answer->at;

    if (answer->is_bad || answer->failed || size > (size_t)(answer->end - at)) {
        answer->is_bad = answer->is_bad || !answer->failed;
        return NULL;
    }
    answer->at += size;
    return at;
}

unsigned answer_take_byte(struct answer *answer)
{
    const char *byte = take(answer, 1);

    return byte ? (unsigned char)*byte : 0;
}

unsigned answer_take_flags(struct answer *answer, unsigned known)
{
    const unsigned flags = answer_take_byte(answer);

    answer->is_bad = answer->is_bad || (flags & ~known);
    return flags;
}

uint64_t answer_take_number(struct answer *answer)
{
    const char *bytes = take(answer, sizeof(uint64_t));
    uint64_t number = 0;

    if (bytes)
        memcpy(&number, bytes, sizeof(number));
    return number;
}

static const char *take_counted(struct answer *answer, size_t most, uint32_t *length)
{
    const char *bytes = take(answer, sizeof(*length));

    *length = 0;
    if (bytes)
        memcpy(length, bytes, sizeof(*length));
    answer->is_bad = answer->is_bad || *length > most;
    return take(answer, *length);
}

size_t answer_take_bytes(struct answer *answer, size_t most, void *bytes)
{
    uint32_t length;
    const char *at = take_counted(answer, most, &length);

    if (!at)
        return 0;
    memcpy(bytes, at, length);
    return length;
}

static void take_into(struct answer *answer, size_t most, bool any, struct text *text)
{
    uint32_t length;
    const char *bytes = take_counted(answer, most, &length);

    if (!bytes)
        return;
    answer->is_bad = !any && memchr(bytes, '\0', length);
    if (answer->is_bad || !answer->for_good)
        return;
    text_clear(text);
    if (length)
        text_append(text, bytes, length);
    answer->failed = text->failed;
}

void answer_take_text(struct answer *answer, size_t most, struct text *text)
{
    take_into(answer, most, false, text);
}

void answer_take_raw(struct answer *answer, size_t most, struct text *text)
{
    take_into(answer, most, true, text);
}
