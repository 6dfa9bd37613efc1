/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads hexadecimal addresses from stdin: sorted, without duplicates. The caller frees *addresses.
 */
#ifndef STACKBOX_TESTS_READ_ADDRESSES_H
#define STACKBOX_TESTS_READ_ADDRESSES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

static size_t read_addresses(uint64_t **addresses)
{
    size_t count = 0, room = 0, kept = 0;
    char word[64];

    while (scanf("%63s", word) == 1) {
        if (array_reserve(addresses, &room, count + 1, sizeof(**addresses)))
            exit(1);
        (*addresses)[count++] = strtoull(word, NULL, 16);
    }
    if (count)
        qsort(*addresses, count, sizeof(**addresses), compare);
    for (size_t i = 0; i < count; i++)
        if (!kept || (*addresses)[kept - 1] != (*addresses)[i])
            (*addresses)[kept++] = (*addresses)[i];
    return kept;
}

#endif
