/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Items by their hashes. The items are the caller's, numbered from 0; the index only knows which of
 * them have a hash. To find an item, or add it if it is missing:
 *
 *     size_t at = 0;
 *     while (index_next(&index, hash, &at, &item))
 *         if (it is the one)
 *             return it;
 *     result = index_add(&index, hash, its number);
 */
#ifndef STACKBOX_BASE_INDEX_H
#define STACKBOX_BASE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct index_slot {
    uint32_t hash, item; /* the item's number plus one; 0: free */
};

/* {0} is empty. */
struct index {
    struct index_slot *slots; /* open addressing */
    size_t size, count;       /* size: a power of two, more than twice count */
};

/* Mixes another word into a hash, which is 0 at first. */
static inline uint64_t hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length);

/* Mixes the high bits into the low ones. */
static inline uint32_t index_fold(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}

/* The next item with that hash; *at is 0 at first. False: there are no more. */
static inline bool index_next(const struct index *index, uint64_t hash, size_t *at, uint32_t *item)
{
    uint32_t folded = index_fold(hash);

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

/* Prefetches for an index_next() to come. */
static inline void index_expect(const struct index *index, uint64_t hash)
{
    if (index->size)
        __builtin_prefetch(&index->slots[index_fold(hash) & (index->size - 1)]);
}

/* 0 or -ENOMEM. */
int index_add(struct index *index, uint64_t hash, uint32_t item);
void index_free(struct index *index);

/* Numbers texts, or keys of any bytes, as they come: 0, 1, 2 ... {0} is empty. */
struct numbering {
    struct text bytes; /* of all keys, one after another */
    size_t *ends;      /* of each */
    size_t count, room;
    struct index index;
};

/* The number of a key, which is copied; *added (or NULL): it is new. 0 or -ENOMEM. */
int numbering_find(struct numbering *numbering, const void *key, size_t length, uint32_t *number,
                   bool *added);
/* The key with this number. */
const char *numbering_key(const struct numbering *numbering, uint32_t number, size_t *length);
void numbering_free(struct numbering *numbering);

#endif
