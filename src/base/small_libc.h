/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * libc functions in fewer bytes than musl's, which calls these by their own names: musl's are made
 * for needles of a megabyte, and this program's are words. Tests call them by the names below
 * everywhere.
 */
#ifndef STACKBOX_BASE_SMALL_LIBC_H
#define STACKBOX_BASE_SMALL_LIBC_H

#include <stddef.h>

char *small_strstr(const char *text, const char *word);
void *small_memmem(const void *bytes, size_t length, const void *word, size_t word_length);
/* Heap sort: in place, O(n log n) at worst. */
void small_qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));

#endif
