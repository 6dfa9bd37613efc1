/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What every room needs: arrays that grow, exact numbers, the clock. */
#ifndef STACKBOX_BASE_UTIL_H
#define STACKBOX_BASE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The inode of the initial pid namespace, the same in every kernel. */
#define INITIAL_PID_NAMESPACE 0xeffffffc

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Makes room for `need` items of `size` bytes in *items, whose room is *room items; *items may be
 * NULL with a room of 0. Grows by doubling. 0, or -ENOMEM with the old array left as it was.
 * The caller frees *items with free().
 */
int array_reserve(void *items, size_t *room, size_t need, size_t size);

/*
 * A whole number: decimal, or hexadecimal after 0x. The text must be all digits, without sign or
 * blank. 0, -EINVAL when it is no number, -ERANGE when it is outside [least, greatest].
 */
int parse_number(const char *string, uint64_t least, uint64_t greatest, uint64_t *number);

/* 292 years: what is added to the clock does not overflow. */
#define MOST_SECONDS (INT64_MAX / 1000000000 - 1)

/* Seconds as a plain decimal ("5", "0.25") into nanoseconds; more than 0. As parse_number. */
int parse_seconds(const char *string, uint64_t *nanoseconds);

/* Sorts numbers, and leaves one of each. Returns how many are left. */
size_t sort_numbers(uint64_t *numbers, size_t count);

/* Where in sorted numbers the first stands that is not below `least`; `count`: none is. */
size_t first_not_below(const uint64_t *numbers, size_t count, uint64_t least);

/*
 * The same of items that are sorted by a key, `stride` bytes from one to the next: the first whose key is
 * greater than `limit`.
 */
size_t first_key_above(const uint64_t *key, size_t stride, size_t count, uint64_t limit);

/* For qsort() and bsearch(): pointers to strings, by what strcmp() says of these. */
int compare_strings(const void *left, const void *right);

/* The monotonic clock in nanoseconds. */
uint64_t now_ns(void);

#endif
