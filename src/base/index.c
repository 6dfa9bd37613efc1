/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

#define FIRST_SIZE 1024
#define BIG_ENDIAN_HERE (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    uint64_t word;

    hash = hash_word(hash, length);
    for (; length > sizeof(word); length -= sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        hash = hash_word(hash, word);
        bytes = (const char *)bytes + sizeof(word);
    }
    word = 0;
    if (length) /* in the lower bits, which scatter best */
        memcpy((char *)&word + (BIG_ENDIAN_HERE ? sizeof(word) - length : 0), bytes, length);
    return hash_word(hash, word);
}

static void put(const struct index *index, const struct index_slot *slot)
{
    size_t at = slot->hash & (index->size - 1);

    while (index->slots[at].item)
        at = (at + 1) & (index->size - 1);
    index->slots[at] = *slot;
}

static int grow(struct index *index)
{
    struct index next = {.size = index->size ? index->size * 2 : FIRST_SIZE, .count = index->count};

    next.slots = calloc(next.size, sizeof(*next.slots));
    if (!next.slots)
        return -ENOMEM;
    for (size_t i = 0; i < index->size; i++)
        if (index->slots[i].item)
            put(&next, &index->slots[i]);
    free(index->slots);
    *index = next;
    return 0;
}

int index_add(struct index *index, uint64_t hash, uint32_t item)
{
    if (index->count * 2 >= index->size && grow(index))
        return -ENOMEM;
    put(index, &(struct index_slot){index_fold(hash), item + 1});
    index->count++;
    return 0;
}

void index_free(struct index *index)
{
    free(index->slots);
    *index = (struct index){0};
}

/* ---- Numbered texts ---- */

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
    if (ARRAY_RESERVE(numbering->ends, numbering->room, numbering->count + 1))
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
