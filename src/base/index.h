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

/* The next item with that hash; *at is 0 at first. False: there are no more. */
bool index_next(const struct index *index, uint64_t hash, size_t *at, uint32_t *item);
/* 0 or -ENOMEM. */
int index_add(struct index *index, uint64_t hash, uint32_t item);
void index_free(struct index *index);

#endif
