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
                   ARRAY_RESERVE(text->data, text->room, text->length + length + 1);
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

uint32_t utf8_take(const char **at, const char *end)
{
    /* The least code of each length: anything less is overlong. */
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *const bytes = (const unsigned char *)(*at)++;
    const unsigned first = bytes[0], more = first < 0xc0 ? 0 : 1 + (first >= 0xe0) + (first >= 0xf0);
    uint32_t c = more ? first & (0x3fu >> more) : first;

    if ((!more && first >= 0x80) || first >= 0xf8 || (size_t)(end - *at) < more)
        return 0;
    for (unsigned i = 1; i <= more; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (bytes[i] & 0x3f);
    }
    if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *at += more;
    return c;
}

/* What a terminal obeys, and what reorders or ends a line: names could seem to be others. */
static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void escape_bytes(struct text *text, const char *bytes, size_t length)
{
    const char *at = bytes, *const end = length ? at + length : at;

    while (at < end) {
        const char *first = at;
        if (!is_control(utf8_take(&at, end)))
            text_append(text, first, (size_t)(at - first));
        else
            while (first < at)
                text_format(text, "\\x%02x", (unsigned char)*first++);
    }
}

void escape_text(struct text *text, struct text *raw)
{
    escape_bytes(text, raw->data, raw->length);
    text->failed = text->failed || raw->failed;
    text_free(raw);
}
