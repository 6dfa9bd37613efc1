/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A strict JSON reader for tests: what it does not accept is not JSON. */
#ifndef STACKBOX_UNIT_JSON_H
#define STACKBOX_UNIT_JSON_H

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

enum json_kind {
    JSON_STRING,
    JSON_NUMBER, /* non-negative integers: there are no others */
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json {
    enum json_kind kind;
    struct text string; /* decoded */
    uint64_t number;
    struct json *items; /* of an object: names and values alternate */
    size_t count, room;
};

static inline bool json_read(const char **at, struct json *value);

static inline void json_skip_blanks(const char **at)
{
    *at += strspn(*at, " \t\r\n");
}

static inline bool json_read_escape(const char **at, struct text *string)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *found = **at ? strchr(letters, **at) : NULL;

    if (found) {
        text_append(string, &meant[found - letters], 1);
        ++*at;
        return true;
    }
    char digits[5] = {0};
    if (**at != 'u' || strlen(*at) < 5)
        return false;
    memcpy(digits, *at + 1, 4);
    *at += 5;
    if (strspn(digits, "0123456789abcdefABCDEF") != 4)
        return false;
    unsigned long unit = strtoul(digits, NULL, 16);
    text_append(string, (char[]){(char)unit}, 1);
    return unit && unit < 0x80; /* other characters need no escape */
}

static inline bool json_read_string(const char **at, struct text *string)
{
    text_add(string, "");
    for (++*at; **at != '"';) {
        if ((unsigned char)**at < 0x20)
            return false;
        if (**at != '\\')
            text_append(string, (*at)++, 1);
        else if (++*at, !json_read_escape(at, string))
            return false;
    }
    ++*at;
    return true;
}

static inline bool json_read_number(const char **at, uint64_t *number)
{
    char digits[32] = {0};
    size_t length = strspn(*at, "0123456789");

    if (length >= sizeof(digits) || (length > 1 && **at == '0'))
        return false;
    memcpy(digits, *at, length);
    *at += length;
    return !parse_number(digits, 0, UINT64_MAX, number);
}

static inline struct json *json_add(struct json *list)
{
    if (array_reserve(&list->items, &list->room, list->count + 1, sizeof(*list->items)))
        abort();
    list->items[list->count] = (struct json){0};
    return &list->items[list->count++];
}

/* The contents of brackets. */
static inline bool json_read_items(const char **at, struct json *list, char end)
{
    ++*at;
    json_skip_blanks(at);
    if (**at == end)
        return ++*at, true;
    for (;;) {
        if (list->kind == JSON_OBJECT) {
            struct json *name = json_add(list);
            json_skip_blanks(at);
            if (**at != '"' || !json_read_string(at, &name->string))
                return false;
            json_skip_blanks(at);
            if (*(*at)++ != ':')
                return false;
        }
        if (!json_read(at, json_add(list)))
            return false;
        json_skip_blanks(at);
        if (**at == end)
            return ++*at, true;
        if (*(*at)++ != ',')
            return false;
    }
}

static inline bool json_read(const char **at, struct json *value)
{
    json_skip_blanks(at);
    switch (**at) {
    case '"':
        value->kind = JSON_STRING;
        return json_read_string(at, &value->string);
    case '[':
        value->kind = JSON_ARRAY;
        return json_read_items(at, value, ']');
    case '{':
        value->kind = JSON_OBJECT;
        return json_read_items(at, value, '}');
    default:
        value->kind = JSON_NUMBER;
        return json_read_number(at, &value->number);
    }
}

/* Reads a text that must be one value. The caller calls json_free() in any case. */
static inline bool json_parse(const char *text, struct json *value)
{
    *value = (struct json){0};
    if (!json_read(&text, value))
        return false;
    json_skip_blanks(&text);
    return !*text;
}

static inline void json_free(struct json *value)
{
    for (size_t i = 0; i < value->count; i++)
        json_free(&value->items[i]);
    free(value->items);
    text_free(&value->string);
}

/* The member of an object with this name; NULL unless the object has it exactly once. */
static inline const struct json *json_member(const struct json *object, const char *name)
{
    const struct json *found = NULL;

    for (size_t i = 0; object && object->kind == JSON_OBJECT && i < object->count; i += 2)
        if (!strcmp(object->items[i].string.data, name)) {
            if (found)
                return NULL;
            found = &object->items[i + 1];
        }
    return found;
}

/* The string member of an object; "(none)": there is none. */
static inline const char *json_string(const struct json *object, const char *name)
{
    const struct json *member = json_member(object, name);

    return member && member->kind == JSON_STRING ? member->string.data : "(none)";
}

#endif
