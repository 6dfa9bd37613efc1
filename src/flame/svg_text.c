/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "flame/svg.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

void svg_add_clean(struct text *text, const char *bytes, size_t length)
{
    size_t done = 0;

    /* U+FFFE and U+FFFF are valid UTF-8, but not XML characters. */
    for (size_t i = 0; i + 2 < length; i++) {
        if (memcmp(bytes + i, "\xef\xbf\xbe", 3) && memcmp(bytes + i, "\xef\xbf\xbf", 3))
            continue;
        escape_bytes(text, bytes + done, i - done);
        text_format(text, "\\xef\\xbf\\x%02x", (unsigned char)bytes[i + 2]);
        done = i + 3;
        i += 2;
    }
    escape_bytes(text, bytes + done, length - done);
}

/* Plain bytes are appended together, others as `escape` says. */
static void add_escaped(struct text *text, const char *bytes, size_t length,
                        const char *(*escape)(char byte))
{
    size_t done = 0;

    for (size_t i = 0; i < length; i++) {
        const char *instead = escape(bytes[i]);
        if (!instead)
            continue;
        text_append(text, bytes + done, i - done);
        text_add(text, instead);
        done = i + 1;
    }
    text_append(text, bytes + done, length - done);
}

static const char *escape_xml(char byte)
{
    switch (byte) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default: return NULL;
    }
}

void svg_add_xml(struct text *text, const char *clean, size_t length)
{
    add_escaped(text, clean, length, escape_xml);
}

/* Keeps "]]>", "</script>" and entities out of the result, for pictures in pages of any kind. */
static const char *escape_json(char byte)
{
    switch (byte) {
    case '<': return "\\u003c";
    case '>': return "\\u003e";
    case '&': return "\\u0026";
    case '"': return "\\\"";
    case '\\': return "\\\\";
    default: return NULL;
    }
}

void svg_add_json(struct text *text, const char *clean, size_t length)
{
    text_add(text, "\"");
    add_escaped(text, clean, length, escape_json);
    text_add(text, "\"");
}

void svg_add_json_bytes(struct text *text, const char *bytes, size_t length)
{
    struct text clean = {0};

    escape_bytes(&clean, bytes, length);
    svg_add_json(text, text_string(&clean), clean.length);
    text->failed = text->failed || clean.failed;
    text_free(&clean);
}

void svg_add_number(struct text *text, uint64_t number)
{
    char digits[24];
    int count = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)number);

    for (int i = 0; i < count; i++) {
        if (i && (count - i) % 3 == 0)
            text_add(text, ",");
        text_append(text, &digits[i], 1);
    }
}

void svg_add_decimal(struct text *text, double number)
{
    char digits[64];
    int count = snprintf(digits, sizeof(digits), "%.4f", number);

    /* Our numbers are never that long. */
    if (count < 0 || (size_t)count >= sizeof(digits))
        return;
    while (digits[count - 1] == '0')
        count--;
    if (digits[count - 1] == '.')
        count--;
    text_append(text, digits, (size_t)count);
}

/* East Asian characters and pictures are two letters wide. */
static size_t letters_of(unsigned char first)
{
    return (first & 0xc0) == 0x80 ? 0 : first < 0xe3 ? 1 : 2;
}

size_t svg_fitting(const char *clean, size_t length, size_t letters)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        size_t more = letters_of((unsigned char)clean[i]);
        if (used + more > letters)
            return i;
        used += more;
    }
    return length;
}
