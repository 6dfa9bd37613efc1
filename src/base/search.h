/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Binary search where bsearch(3), which only finds equal items, is not enough. */
#ifndef STACKBOX_BASE_SEARCH_H
#define STACKBOX_BASE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The index of the first of `count` sorted items, `size` bytes each, that is not before the key; `count`: all
 * are. In the caller, which the compiler then spares the calls of `is_before`.
 */
static inline __attribute__((always_inline)) size_t search_first(const void *items, size_t count, size_t size,
                                                                 const void *key,
                                                                 bool (*is_before)(const void *item, const void *key))
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (is_before((const void *)((uintptr_t)items + middle * size), key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
