/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What everything needs: arrays that grow, exact numbers, the clock. */
#ifndef STACKBOX_BASE_UTIL_H
#define STACKBOX_BASE_UTIL_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The inode of the initial pid namespace, the same in every kernel. */
#define INITIAL_PID_NAMESPACE 0xeffffffc

#define MOST_PID 4194304 /* PID_MAX_LIMIT, of any kernel */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The result of a call below 0 with an errno, made again each time that a signal interrupts it. */
#define UNINTERRUPTED(call)                      \
    ({                                           \
        __typeof__(call) result_;                \
        do                                       \
            result_ = (call);                    \
        while (result_ < 0 && errno == EINTR);   \
        result_;                                 \
    })

/*
 * Makes room for `need` items in the array `items`, which has room for `room`; it may be NULL if
 * that is 0. Grows by doubling. 0, or -ENOMEM with the old array unchanged. The caller frees it.
 */
#define ARRAY_RESERVE(items, room, need) \
    array_reserve(&(items), &(room), (need), sizeof(*(items)))
int array_reserve(void *items, size_t *room, size_t need, size_t size);

/*
 * A whole number: decimal, or hexadecimal after 0x. The text must be all digits, without sign or
 * blank. 0, -EINVAL if it is not a number, -ERANGE if it is outside [least, greatest].
 */
int parse_number(const char *string, uint64_t least, uint64_t greatest, uint64_t *number);

/*
 * pthread_create() with all signals blocked in the new thread, so that the thread that waits for
 * signals gets them. 0 or a negative errno.
 */
int thread_begin(pthread_t *thread, void *(*run)(void *), void *context);

/*
 * Sets *ends, wakes the thread through `bell`, an eventfd, and joins it. The thread also checks
 * *ends from time to time, in case the wakeup fails.
 */
void thread_end(pthread_t thread, bool *ends, int bell);

/* 292 years: adding it to the clock does not overflow. */
#define MOST_SECONDS (INT64_MAX / 1000000000 - 1)

/*
 * Converts a time to nanoseconds: a plain decimal with a unit ("5s", "0.25ms"; ns, us, ms, s, m,
 * h), or in units of `usual` nanoseconds without one; more than 0. Errors as parse_number.
 */
int parse_time(const char *string, uint64_t usual, uint64_t *nanoseconds);

/* A plain decimal up to 100, perhaps with %, in billionths of a percent. Errors as above. */
int parse_percent(const char *string, uint64_t *billionths);

/* Sorts numbers and removes duplicates. Returns how many are left. */
size_t sort_numbers(uint64_t *numbers, size_t count);

/* The index of the first of the sorted numbers that is not below `least`; `count` if none is. */
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

/* Closes `fd` unless it is negative. */
void close_fd(int fd);

/* Is `number` among the `numbers`, which need not be sorted? */
bool has_number(const uint32_t *numbers, size_t count, uint64_t number);

/*
 * For comparisons of several numbers, order_of(a->x, b->x) ?: order_of(a->y, b->y): below 0 if
 * the first is less than the second, above 0 if it is greater.
 */
static inline int order_of(uint64_t one, uint64_t other)
{
    return one < other ? -1 : one > other;
}

/* For qsort(): compares items by the 64-bit number that they begin with. */
int compare_by_number(const void *left, const void *right);

/* For qsort() and bsearch(): compares items by the strings that they begin with, by strcmp(). */
int compare_strings(const void *left, const void *right);
/* The index of the first of such items, sorted, whose string is `name`; or where it would be. */
size_t first_named(const void *items, size_t count, size_t size, const char *name);

/* Does this process or thread exist, whoever owns it? */
bool task_exists(uint32_t number);

size_t page_bytes(void);

/* The length of a clock tick (USER_HZ), the unit of times in /proc. */
uint64_t tick_ns(void);

/* The time of a clock, in nanoseconds. */
uint64_t clock_ns(int clock);

/*
 * The kernel's own monotonic clock in nanoseconds, as in the timestamps of its events: in a time
 * namespace (5.6) CLOCK_MONOTONIC has an offset. Call it early on: the first call reads /proc.
 */
uint64_t now_ns(void);

/* Gives this thread the best nice value, unless the user asked for a low priority (--nice). */
void come_before_others(void);

/*
 * Binary search where bsearch(3), which only finds equal items, is not enough: the index of the
 * first of `count` sorted items, `size` bytes each, that is not before the key; `count` if none is.
 * Inlined into its caller, so that the compiler can inline `is_before`, too.
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
 * A list of names in one string, "one\0" "two\0", which saves hundreds of pointers. The string's
 * own NUL ends the list; NULL: no names. A name that ends in * stands for all names that begin so.
 */
bool name_list_has(const char *list, const char *name);

#endif
