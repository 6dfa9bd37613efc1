/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/numbering.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

const char *numbering_key(const struct numbering *numbering, uint32_t number, size_t *length)
{
    size_t start = number ? numbering->ends[number - 1] : 0;

    *length = numbering->ends[number] - start;
    return numbering->bytes.data + start;
}

int numbering_find(struct numbering *numbering, const void *key, size_t length, uint32_t *number,
                   bool *added)
{
    uint64_t hash = hash_bytes(0, key, length);
    size_t its_length, at = 0;

    if (added)
        *added = false;
    while (index_next(&numbering->index, hash, &at, number)) {
        const char *its = numbering_key(numbering, *number, &its_length);
        if (its_length == length && (!length || !memcmp(its, key, length)))
            return 0;
    }
    if (array_reserve(&numbering->ends, &numbering->room, numbering->count + 1,
                      sizeof(*numbering->ends)))
        return -ENOMEM;
    text_append(&numbering->bytes, key, length);
    if (numbering->bytes.failed || index_add(&numbering->index, hash, (uint32_t)numbering->count))
        return -ENOMEM;
    *number = (uint32_t)numbering->count++;
    numbering->ends[*number] = numbering->bytes.length;
    if (added)
        *added = true;
    return 0;
}

void numbering_free(struct numbering *numbering)
{
    text_free(&numbering->bytes);
    free(numbering->ends);
    index_free(&numbering->index);
    *numbering = (struct numbering){0};
}
