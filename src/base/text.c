/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Makes room for that many bytes more. False: there is none, or an earlier one was lacking. */
bool text_reserve(struct text *text, size_t length)
{
    text->failed = text->failed || length >= SIZE_MAX - text->length ||
                   array_reserve(&text->data, &text->room, text->length + length + 1, 1);
    return !text->failed;
}

void text_append(struct text *text, const char *bytes, size_t length)
{
    if (!text_reserve(text, length))
        return;
    if (length)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void text_add(struct text *text, const char *string)
{
    text_append(text, string, strlen(string));
}

void text_format_list(struct text *text, const char *format, va_list list)
{
    char small[256];
    va_list again;

    va_copy(again, list);
    const int length = vsnprintf(small, sizeof(small), format, list);
    if (length < 0)
        text->failed = true;
    else if ((size_t)length < sizeof(small))
        text_append(text, small, (size_t)length);
    else if (text_reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void text_format(struct text *text, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    text_format_list(text, format, list);
    va_end(list);
}

int text_refuse(struct text *text, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    text_format_list(text, format, list);
    va_end(list);
    return -EINVAL;
}

void text_add_varint(struct text *text, uint64_t number)
{
    char bytes[10];
    size_t length = 0;

    for (; number >> 7; number >>= 7)
        bytes[length++] = (char)(number | 0x80);
    bytes[length++] = (char)number;
    text_append(text, bytes, length);
}

const char *text_string(const struct text *text)
{
    return text->length ? text->data : "";
}

const char *error_words(int error)
{
    return error == -ENOMEM ? "out of memory" : strerror(-error);
}

const char *text_or_error(const struct text *text, int error)
{
    return text->length ? text->data : error_words(error);
}

int text_refusal(const struct text *text)
{
    return text->length || text->failed ? -EINVAL : 0;
}

void text_clear(struct text *text)
{
    text->length = 0;
    text->failed = false;
    if (text->data)
        text->data[0] = '\0';
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

const char *starts_with(const char *string, const char *start)
{
    const size_t length = strlen(start);

    return strncmp(string, start, length) ? NULL : string + length;
}

const char *line_word(const char *line, unsigned number)
{
    while (line && number--) {
        line = strchr(line, ' ');
        line = line ? line + 1 : NULL;
    }
    return line;
}

uint64_t line_number(const char *line, unsigned number)
{
    const char *word = line_word(line, number);

    return word ? strtoull(word, NULL, 10) : 0;
}

const char *next_line(const char **rest, size_t *length)
{
    const char *line = *rest;

    if (!*line)
        return NULL;
    *length = strcspn(line, "\n");
    *rest = line + *length + (line[*length] == '\n');
    return line;
}

/* The length of the valid UTF-8 character at `bytes`, 0 if there is none. */
static size_t utf8_length(const unsigned char *bytes, size_t left)
{
    unsigned first = bytes[0], code;
    size_t length;
    /* The least code of each length: anything less is overlong. */
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};

    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf) {
        length = 2;
        code = first & 0x1f;
    } else if (first >= 0xe0 && first <= 0xef) {
        length = 3;
        code = first & 0x0f;
    } else if (first >= 0xf0 && first <= 0xf4) {
        length = 4;
        code = first & 0x07;
    } else {
        return 0;
    }
    if (left < length)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (bytes[i] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < least[length] || code > 0x10ffff || surrogate ? 0 : length;
}

/* What a terminal obeys, and what reorders or ends a line: names could seem to be others. */
static bool is_control(const unsigned char *bytes, size_t length)
{
    if (length == 1)
        return bytes[0] < 0x20 || bytes[0] == 0x7f;
    if (length == 2) /* C1; U+061C */
        return (bytes[0] == 0xc2 && bytes[1] < 0xa0) || (bytes[0] == 0xd8 && bytes[1] == 0x9c);
    if (length != 3 || bytes[0] != 0xe2)
        return false;
    /* U+200E, U+200F; U+2028 to U+202E; U+2066 to U+2069 */
    return bytes[1] == 0x80 ? bytes[2] == 0x8e || bytes[2] == 0x8f ||
                                  (bytes[2] >= 0xa8 && bytes[2] <= 0xae)
                            : bytes[1] == 0x81 && bytes[2] >= 0xa6 && bytes[2] <= 0xa9;
}

void escape_bytes(struct text *text, const char *bytes, size_t length)
{
    const unsigned char *at = (const unsigned char *)bytes, *end = length ? at + length : at;

    while (at < end) {
        size_t size = utf8_length(at, (size_t)(end - at));
        if (size && !is_control(at, size)) {
            text_append(text, (const char *)at, size);
            at += size;
            continue;
        }
        for (size_t i = size ? size : 1; i; i--)
            text_format(text, "\\x%02x", *at++);
    }
}

void escape_text(struct text *text, struct text *raw)
{
    escape_bytes(text, raw->data, raw->length);
    text->failed = text->failed || raw->failed;
    text_free(raw);
}
