/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 1024

struct index_slot {
    uint32_t hash, item; /* the item's number plus one; 0: free */
};

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
    if (length)
        memcpy(&word, bytes, length);
    return hash_word(hash, word);
}

/* Mixes the high bits into the low ones. */
static uint32_t fold(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}

bool index_next(const struct index *index, uint64_t hash, size_t *at, uint32_t *item)
{
    uint32_t folded = fold(hash);

    while (index->size) {
        const struct index_slot *slot = &index->slots[(folded + *at) & (index->size - 1)];
        if (!slot->item)
            return false;
        ++*at;
        if (slot->hash == folded) {
            *item = slot->item - 1;
            return true;
        }
    }
    return false;
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
    put(index, &(struct index_slot){fold(hash), item + 1});
    index->count++;
    return 0;
}

void index_free(struct index *index)
{
    free(index->slots);
    *index = (struct index){0};
}
