/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/text.h"
#include "base/util.h"

static void add_pattern(const struct place *place, const struct demangle_wishes *readable,
                        struct text *line)
{
    switch (place->kind) {
    case PLACE_KERNEL_FUNCTION:
        text_add(line, place->at_return ? "r::" : "");
        place_add_own_name(place, readable, line);
        break;
    case PLACE_TRACEPOINT:
        text_format(line, "t:%s", place->name);
        break;
    case PLACE_USER:
        text_format(line, "%s%s:", place->is_usdt ? "u:" : place->at_return ? "r:" : "",
                    place->path);
        place_add_own_name(place, readable, line);
        break;
    }
    if (place->offset)
        text_format(line, "+0x%llx", (unsigned long long)place->offset);
}

int list_places(const struct places *places, const struct demangle_wishes *readable,
                struct text *lines)
{
    char **patterns = calloc(places->count + 1, sizeof(*patterns));
    int result = patterns ? 0 : -ENOMEM;
    size_t count = 0;

    while (!result && count < places->count) {
        struct text raw = {0}, line = {0};
        add_pattern(&places->items[count], readable, &raw);
        if (!raw.failed)
            escape_bytes(&line, raw.data, raw.length);
        patterns[count++] = line.data;
        result = raw.failed || line.failed ? -ENOMEM : 0;
        text_free(&raw);
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
