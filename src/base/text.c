/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* Makes room for that many bytes more. False: there is none, or an earlier one was lacking. */
static bool reserve(struct text *text, size_t length)
{
    text->failed = text->failed || length >= SIZE_MAX - text->length ||
                   array_reserve(&text->data, &text->room, text->length + length + 1, 1);
    return !text->failed;
}

void text_append(struct text *text, const char *bytes, size_t length)
{
    if (!reserve(text, length))
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

void text_format(struct text *text, const char *format, ...)
{
    char small[256];
    va_list list;

    va_start(list, format);
    int length = vsnprintf(small, sizeof(small), format, list);
    va_end(list);
    if (length < 0) {
        text->failed = true;
        return;
    }
    if ((size_t)length < sizeof(small)) {
        text_append(text, small, (size_t)length);
        return;
    }
    if (!reserve(text, (size_t)length))
        return;
    va_start(list, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, list);
    va_end(list);
    text->length += (size_t)length;
}

const char *text_or_error(const struct text *text, int error)
{
    return text->length ? text->data : strerror(-error);
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

const char *next_line(const char **rest, size_t *length)
{
    const char *line = *rest;

    if (!*line)
        return NULL;
    *length = strcspn(line, "\n");
    *rest = line + *length + (line[*length] == '\n');
    return line;
}
