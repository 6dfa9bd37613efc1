/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/small_libc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

char *small_strstr(const char *text, const char *word)
{
    const size_t length = strlen(word);

    if (!length)
        return (char *)text;
    for (; (text = strchr(text, *word)); text++)
        if (!strncmp(text, word, length))
            return (char *)text;
    return NULL;
}

void *small_memmem(const void *bytes, size_t length, const void *word, size_t word_length)
{
    const char *at = bytes, *end = at + length;

    if (!word_length)
        return (void *)bytes;
    for (; (size_t)(end - at) >= word_length; at++) {
        at = memchr(at, *(const char *)word, (size_t)(end - at) - word_length + 1);
        if (!at)
            break;
        if (!memcmp(at, word, word_length))
            return (void *)at;
    }
    return NULL;
}

static void swap(char *one, char *other, size_t size)
{
    for (uint64_t kept; size >= sizeof(kept); size -= sizeof(kept)) {
        memcpy(&kept, one, sizeof(kept));
        memcpy(one, other, sizeof(kept));
        memcpy(other, &kept, sizeof(kept));
        one += sizeof(kept);
        other += sizeof(kept);
    }
    for (; size; size--) {
        const char kept = *one;
        *one++ = *other;
        *other++ = kept;
    }
}

/* Sifts the item at `at` down until no child is greater. */
static void sink(char *items, size_t at, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && compare(items + child * size, items + (child + 1) * size) < 0)
            child++;
        if (compare(items + at * size, items + child * size) >= 0)
            return;
        swap(items + at * size, items + child * size, size);
    }
}

/* Sorted input, such as many symbol tables, only takes one look. */
void small_qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    size_t sorted = 1;

    while (sorted < count && compare((char *)items + (sorted - 1) * size, (char *)items + sorted * size) <= 0)
        sorted++;
    if (sorted >= count)
        return;
    for (size_t at = count / 2; at--;)
        sink(items, at, count, size, compare);
    while (count-- > 1) {
        swap(items, (char *)items + count * size, size);
        sink(items, 0, count, size, compare);
    }
}

#ifndef __GLIBC__
char *strstr(const char *text, const char *word)
{
    return small_strstr(text, word);
}

void *memmem(const void *bytes, size_t length, const void *word, size_t word_length)
{
    return small_memmem(bytes, length, word, word_length);
}

void qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    small_qsort(items, count, size, compare);
}
#endif
