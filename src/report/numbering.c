/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/numbering.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

#define FIRST_SLOTS 1024

/* FNV-1a, with its high bits brought down to where slots are taken from. */
static size_t hash_of(const char *key, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)key[i]) * 0x100000001b3;
    return (size_t)(hash ^ hash >> 32);
}

const char *numbering_key(const struct numbering *numbering, uint32_t number, size_t *length)
{
    size_t start = number ? numbering->ends[number - 1] : 0;

    *length = numbering->ends[number] - start;
    return numbering->bytes.data + start;
}

static int grow(struct numbering *numbering)
{
    size_t count = numbering->slot_count ? numbering->slot_count * 2 : FIRST_SLOTS, length;
    uint32_t *slots = calloc(count, sizeof(*slots));

    if (!slots)
        return -ENOMEM;
    for (uint32_t i = 0; i < numbering->count; i++) {
        const char *key = numbering_key(numbering, i, &length);
        size_t at = hash_of(key, length) & (count - 1);
        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = i + 1;
    }
    free(numbering->slots);
    numbering->slots = slots;
    numbering->slot_count = count;
    return 0;
}

int numbering_find(struct numbering *numbering, const void *key, size_t length, uint32_t *number,
                   bool *added)
{
    size_t its_length;

    if (added)
        *added = false;
    if (numbering->count * 2 >= numbering->slot_count && grow(numbering))
        return -ENOMEM;
    size_t at = hash_of(key, length) & (numbering->slot_count - 1);
    for (; numbering->slots[at]; at = (at + 1) & (numbering->slot_count - 1)) {
        *number = numbering->slots[at] - 1;
        const char *its = numbering_key(numbering, *number, &its_length);
        if (its_length == length && (!length || !memcmp(its, key, length)))
            return 0;
    }
    if (array_reserve(&numbering->ends, &numbering->room, numbering->count + 1,
                      sizeof(*numbering->ends)))
        return -ENOMEM;
    text_append(&numbering->bytes, key, length);
    if (numbering->bytes.failed)
        return -ENOMEM;
    *number = (uint32_t)numbering->count++;
    numbering->ends[*number] = numbering->bytes.length;
    numbering->slots[at] = *number + 1;
    if (added)
        *added = true;
    return 0;
}

void numbering_free(struct numbering *numbering)
{
    text_free(&numbering->bytes);
    free(numbering->ends);
    free(numbering->slots);
    *numbering = (struct numbering){0};
}
