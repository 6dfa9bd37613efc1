/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What everything needs: arrays that grow, exact numbers, the clock. */
#ifndef STACKBOX_BASE_UTIL_H
#define STACKBOX_BASE_UTIL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The inode of the initial pid namespace, the same in every kernel. */
#define INITIAL_PID_NAMESPACE 0xeffffffc

#define MOST_PID 4194304 /* PID_MAX_LIMIT, of any kernel */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Makes room for `need` items of `size` bytes in *items, which has room for *room; *items may be
 * NULL if *room is 0. Grows by doubling. 0, or -ENOMEM with the old array unchanged. The caller
 * frees *items with free().
 */
int array_reserve(void *items, size_t *room, size_t need, size_t size);

/*
 * A whole number: decimal, or hexadecimal after 0x. The text must be all digits, without sign or
 * blank. 0, -EINVAL if it is not a number, -ERANGE if it is outside [least, greatest].
 */
int parse_number(const char *string, uint64_t least, uint64_t greatest, uint64_t *number);

/*
 * pthread_create(), for a thread that gets no signals: they are handled by the one that waits for
 * them. 0 or a negative errno.
 */
int thread_begin(pthread_t *thread, void *(*run)(void *), void *context);

/*
 * Waits for its end: it looks at *ends when `bell`, an eventfd, wakes it up, and from time to time,
 * should that fail.
 */
void thread_end(pthread_t thread, bool *ends, int bell);

/* 292 years: adding it to the clock does not overflow. */
#define MOST_SECONDS (INT64_MAX / 1000000000 - 1)

/*
 * Converts a time to nanoseconds: a plain decimal of a unit ("5s", "0.25ms"; ns, us, ms, s, m, h),
 * without one of `usual` nanoseconds; more than 0. Errors as parse_number.
 */
int parse_time(const char *string, uint64_t usual, uint64_t *nanoseconds);

/* A plain decimal up to `most`, perhaps with %, in billionths of a percent. Errors as above. */
int parse_percent(const char *string, uint64_t most, uint64_t *billionths);

/* Sorts numbers and removes duplicates. Returns how many are left. */
size_t sort_numbers(uint64_t *numbers, size_t count);

/*
 * The index of the first of the sorted numbers that is not below `least`; `count`: there is none.
 */
size_t first_not_below(const uint64_t *numbers, size_t count, uint64_t least);

/*
 * The same for items sorted by a key, `stride` bytes apart: the first whose key is greater than
 * `limit`.
 */
size_t first_key_above(const uint64_t *key, size_t stride, size_t count, uint64_t limit);

/* The name of a file, without its directories. */
const char *base_name(const char *path);

/* All of it, or as much as possible; signal handlers may use it. 0 or a negative errno. */
int write_all(int fd, const void *bytes, size_t length);

/* Closes it, unless it is below 0: none. */
void close_fd(int fd);

/* Is it one of them, in whatever order? */
bool has_number(const uint32_t *numbers, size_t count, uint64_t number);

/* For qsort(): compares items that begin with a 64-bit number by that. */
int compare_by_number(const void *left, const void *right);

/* For qsort() and bsearch(): compares pointers to strings as strcmp() does. */
int compare_strings(const void *left, const void *right);

/* Is there such a process or thread? Another user's is there, too. */
bool task_exists(uint32_t number);

size_t page_bytes(void);

/* Of a clock tick, in which /proc tells times. */
uint64_t tick_ns(void);

/* What a clock shows, in nanoseconds. */
uint64_t clock_ns(int clock);

/*
 * The kernel's own monotonic clock in nanoseconds, as in the times of its events: in a time
 * namespace, CLOCK_MONOTONIC is another (5.6). To be called early on: the first call reads /proc.
 */
uint64_t now_ns(void);

/* This thread alone comes before others from now on, unless the user asked to be last (--nice). */
void come_before_others(void);

/*
 * Binary search where bsearch(3), which only finds equal items, is not enough: the index of the
 * first of `count` sorted items, `size` bytes each, that is not before the key; `count`: all are.
 * In the caller, which the compiler then spares the calls of `is_before`.
 */
static inline __attribute__((always_inline)) size_t
search_first(const void *items, size_t count, size_t size, const void *key,
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

/*
 * Names one after the other in one string, "one\0" "two\0": hundreds of pointers fewer. The
 * string's own NUL ends the list; NULL: no names. A name that ends in * stands for all names that
 * begin so.
 */
bool name_list_has(const char *list, const char *name);

#endif
