/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/text.h"
#include "base/util.h"
#include "find/pattern.h"

/* "core::fmt::f" would be in a library "core". */
static void add_kernel_function(const struct place *place, const struct text *name, struct text *line)
{
    text_add(line, place->at_return ? "r::" : name->length && strchr(name->data, ':') ? "p::" : "");
    text_append(line, name->data, name->length);
}

static void add_user_place(const struct place *place, const struct text *name, struct text *line)
{
    text_format(line, "%s%s:", place->is_usdt ? "u:" : place->at_return ? "r:" : "", place->path);
    text_append(line, name->data, name->length);
}

static void add_pattern(const struct place *place, const struct text *name, struct text *line)
{
    switch (place->kind) {
    case PLACE_KERNEL_FUNCTION:
        add_kernel_function(place, name, line);
        break;
    case PLACE_TRACEPOINT:
        text_format(line, "t:%s", place->name);
        break;
    case PLACE_USER:
        add_user_place(place, name, line);
        break;
    }
    if (place->offset)
        text_format(line, "+0x%llx", (unsigned long long)place->offset);
}

/* Does the line, as a pattern, mean this function by its name? */
static bool is_meant(const char *line, const struct place *place, const struct text *name)
{
    struct text error = {0};
    struct pattern pattern;

    if (pattern_parse(&pattern, line, false, &error)) {
        text_free(&error);
        return false;
    }
    const bool meant = pattern.kind == PATTERN_USER_FUNCTION && !strcmp(pattern.library, place->path) &&
                       !strcmp(pattern.name.text, name->data) && pattern.offset == place->offset &&
                       (!pattern.is_address || pattern.address == place->address);
    pattern_free(&pattern);
    return meant;
}

/* A name that would mean something else, such as f+0x10, gives way to its address. */
static void add_line(const struct place *place, const struct demangle_wishes *readable, struct text *line)
{
    struct text name = {0}, raw = {0};

    place_add_own_name(place, readable, &name);
    add_pattern(place, &name, &raw);
    if (!raw.failed && !name.failed)
        escape_bytes(line, raw.data, raw.length);
    if (!line->failed && line->length && place->kind == PLACE_USER && !place->is_usdt &&
        !is_meant(line->data, place, &name)) {
        text_clear(line);
        text_clear(&raw);
        text_format(&raw, "%s%s:0x%llx", place->at_return ? "r:" : "", place->path,
                    (unsigned long long)place->address);
        if (!raw.failed)
            escape_bytes(line, raw.data, raw.length);
    }
    line->failed = line->failed || raw.failed || name.failed;
    text_free(&name);
    text_free(&raw);
}

int list_places(const struct places *places, const struct demangle_wishes *readable,
                struct text *lines)
{
    char **patterns = calloc(places->count + 1, sizeof(*patterns));
    int result = patterns ? 0 : -ENOMEM;
    size_t count = 0;

    while (!result && count < places->count) {
        struct text line = {0};
        add_line(&places->items[count], readable, &line);
        patterns[count++] = line.data;
        result = line.failed ? -ENOMEM : 0;
    }
    if (!result)
        qsort(patterns, count, sizeof(*patterns), compare_strings);
    for (size_t i = 0; i < count; i++) {
        if (!result && (!i || strcmp(patterns[i - 1], patterns[i])))
            text_format(lines, "%s\n", patterns[i]);
        if (i)
            free(patterns[i - 1]);
    }
    if (count)
        free(patterns[count - 1]);
    free(patterns);
    return result ? result : lines->failed ? -ENOMEM : 0;
}
