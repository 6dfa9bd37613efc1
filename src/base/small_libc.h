/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions of libc in fewer bytes than musl's, which calls these by their own names: those are made for needles of
 * a megabyte, and this program's are words. By these names tests know them wherever they run.
 */
#ifndef STACKBOX_BASE_SMALL_LIBC_H
#define STACKBOX_BASE_SMALL_LIBC_H

#include <stddef.h>

char *small_strstr(const char *text, const char *word);
void *small_memmem(const void *bytes, size_t length, const void *word, size_t word_length);
/* A heap's: in place, and never slower than by its logarithm. */
void small_qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *));

#endif
