/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "recording/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "recording/format.h"

uint32_t strings_number(struct strings *strings, const char *string)
{
    size_t at = 0;
    uint32_t item;

    if (!string || !*string)
        return 0;
    const uint64_t hash = hash_bytes(0, string, strlen(string));
    while (index_next(&strings->index, hash, &at, &item))
        if (!strcmp(strings->bytes.data + strings->starts[item], string))
            return item + 1;
    if (array_reserve(&strings->starts, &strings->room, strings->count + 1, sizeof(*strings->starts)) ||
        index_add(&strings->index, hash, (uint32_t)strings->count)) {
        strings->failed = true;
        return 0;
    }
    strings->starts[strings->count++] = strings->bytes.length;
    text_append(&strings->bytes, string, strlen(string) + 1);
    strings->failed = strings->failed || strings->bytes.failed;
    return (uint32_t)strings->count;
}

void strings_put(const struct strings *strings, struct text *to)
{
    put_number(to, strings->count);
    for (size_t i = 0; i < strings->count && !strings->failed; i++) {
        const char *string = strings->bytes.data + strings->starts[i];
        put_number(to, strlen(string));
        text_add(to, string);
    }
}

void strings_free(struct strings *strings)
{
    index_free(&strings->index);
    text_free(&strings->bytes);
    free(strings->starts);
}
