/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/text.h"

#define FIRST_OF_ALL (-20) /* a nice value, which is per thread */

int array_reserve(void *items, size_t *room, size_t need, size_t size)
{
    void *array;
    size_t want = *room ? *room : 16;

    if (need <= *room)
        return 0;
    while (want < need) {
        if (want > SIZE_MAX / 2)
            return -ENOMEM;
        want *= 2;
    }
    if (want > SIZE_MAX / size)
        return -ENOMEM;
    /* Copied, not cast: the caller's pointer has a type of its own. */
    memcpy(&array, items, sizeof(array));
    array = realloc(array, want * size);
    if (!array)
        return -ENOMEM;
    memcpy(items, &array, sizeof(array));
    *room = want;
    return 0;
}

int thread_begin(pthread_t *thread, void *(*run)(void *), void *context)
{
    sigset_t all, before;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    int result = -pthread_create(thread, NULL, run, context);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return result;
}

void thread_end(pthread_t thread, bool *ends, int bell)
{
    __atomic_store_n(ends, true, __ATOMIC_RELAXED);
    (void)!write(bell, &(uint64_t){1}, sizeof(uint64_t));
    pthread_join(thread, NULL);
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 16;
}

int parse_number(const char *string, uint64_t least, uint64_t greatest, uint64_t *number)
{
    unsigned base = 10;
    uint64_t value = 0;

    if (string[0] == '0' && (string[1] == 'x' || string[1] == 'X')) {
        base = 16;
        string += 2;
    }
    if (!*string)
        return -EINVAL;
    bool over = false;
    for (; *string; string++) {
        unsigned digit = (unsigned)digit_value(*string);
        if (digit >= base)
            return -EINVAL;
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            over = true;
    }
    if (over || value < least || value > greatest)
        return -ERANGE;
    *number = value;
    return 0;
}

/*
 * Digits with at most one point; *fraction is in 10^-9. What follows them, or NULL if there are
 * none.
 */
static const char *parse_fixed(const char *string, uint64_t *whole, uint64_t *fraction, bool *over)
{
    uint64_t unit = 1000000000;
    bool any = false;

    *whole = *fraction = 0;
    *over = false;
    for (; *string >= '0' && *string <= '9'; string++, any = true)
        if (__builtin_mul_overflow(*whole, 10, whole) ||
            __builtin_add_overflow(*whole, (uint64_t)(*string - '0'), whole))
            *over = true;
    if (*string == '.')
        for (string++; *string >= '0' && *string <= '9'; string++, any = true) {
            unit /= 10; /* beyond the ninth digit this is 0, and the digit adds nothing */
            *fraction += unit * (uint64_t)(*string - '0');
        }
    return any ? string : NULL;
}

static uint64_t unit_of(const char *word, uint64_t usual)
{
    static const struct {
        const char *name;
        uint64_t nanoseconds;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000},
                 {"min", 60000000000}, {"h", 3600000000000}};

    if (!*word)
        return usual;
    for (size_t i = 0; i < COUNT_OF(units); i++)
        if (!strcmp(word, units[i].name))
            return units[i].nanoseconds;
    return 0;
}

int parse_time(const char *string, uint64_t usual, uint64_t *nanoseconds)
{
    const uint64_t second = 1000000000;
    uint64_t whole, fraction;
    bool over;
    const char *rest = parse_fixed(string, &whole, &fraction, &over);
    const uint64_t unit = rest ? unit_of(rest, usual) : 0;

    if (!unit)
        return -EINVAL;
    if (over || __builtin_mul_overflow(whole, unit, &whole) || whole >= (MOST_SECONDS + 1) * second)
        return -ERANGE;
    *nanoseconds = whole + (unit < second ? fraction * unit / second : fraction * (unit / second));
    return *nanoseconds ? 0 : -ERANGE;
}

int parse_percent(const char *string, uint64_t *billionths)
{
    uint64_t whole, fraction;
    bool over;
    const char *rest = parse_fixed(string, &whole, &fraction, &over);

    if (!rest || (*rest && strcmp(rest, "%")))
        return -EINVAL;
    if (over || whole > 100 || (whole == 100 && fraction))
        return -ERANGE;
    *billionths = whole * 1000000000 + fraction;
    return 0;
}

int compare_by_number(const void *left, const void *right)
{
    return order_of(*(const uint64_t *)left, *(const uint64_t *)right);
}

size_t sort_numbers(uint64_t *numbers, size_t count)
{
    size_t kept = 0;

    if (count)
        qsort(numbers, count, sizeof(*numbers), compare_by_number);
    for (size_t i = 0; i < count; i++)
        if (!kept || numbers[kept - 1] != numbers[i])
            numbers[kept++] = numbers[i];
    return kept;
}

static bool is_at_most(const void *item, const void *limit)
{
    return *(const uint64_t *)item <= *(const uint64_t *)limit;
}

size_t first_key_above(const uint64_t *key, size_t stride, size_t count, uint64_t limit)
{
    return search_first(key, count, stride, &limit, is_at_most);
}

size_t first_not_below(const uint64_t *numbers, size_t count, uint64_t least)
{
    return least ? first_key_above(numbers, sizeof(*numbers), count, least - 1) : 0;
}

const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

int write_all(int fd, const void *bytes, size_t length)
{
    for (const char *at = bytes, *end = at + length; at < end;) {
        const ssize_t written = write(fd, at, (size_t)(end - at));
        if (written > 0)
            at += written;
        else if (!written || errno != EINTR)
            return written ? -errno : -EIO;
    }
    return 0;
}

void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

bool has_number(const uint32_t *numbers, size_t count, uint64_t number)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

int compare_strings(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool is_before(const void *item, const void *name)
{
    return strcmp(*(const char *const *)item, name) < 0;
}

size_t first_named(const void *items, size_t count, size_t size, const char *name)
{
    return search_first(items, count, size, name, is_before);
}

static bool same_link(const char *one, const char *other)
{
    char texts[2][64] = {{0}};

    return readlink(one, texts[0], sizeof(texts[0]) - 1) ==
               readlink(other, texts[1], sizeof(texts[1]) - 1) &&
           !strcmp(texts[0], texts[1]);
}

/*
 * /proc/PID/timens_offsets shows the time namespace of PID's children, which PID itself may only
 * enter at its next exec. If ours is another one, our parent's file shows its offsets.
 */
static uint64_t read_clock_offset(void)
{
    char path[48] = "/proc/self/timens_offsets";
    struct text content = {0};
    const char *at = NULL;
    char *end;
    uint64_t offset = 0;

    if (!same_link("/proc/self/ns/time", "/proc/self/ns/time_for_children"))
        snprintf(path, sizeof(path), "/proc/%d/timens_offsets", (int)getppid());
    /* "monotonic           0         0": seconds and nanoseconds */
    if (!read_file(AT_FDCWD, path, 256, &content) && content.data)
        at = starts_with(content.data, "monotonic ");
    if (at) {
        offset = (uint64_t)strtoll(at, &end, 10) * 1000000000;
        offset += (uint64_t)strtoll(end, NULL, 10);
    }
    text_free(&content);
    return offset;
}

bool task_exists(uint32_t number)
{
    return !kill((pid_t)number, 0) || errno != ESRCH;
}

size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

uint64_t tick_ns(void)
{
    return 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

uint64_t clock_ns(int clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t now_ns(void)
{
    static uint64_t offset;
    static bool is_known;

    if (!is_known) { /* the first call precedes all threads */
        offset = read_clock_offset();
        is_known = true;
    }
    return clock_ns(CLOCK_MONOTONIC) - offset;
}

void come_before_others(void)
{
    if (getpriority(PRIO_PROCESS, 0) <= 0)
        (void)setpriority(PRIO_PROCESS, 0, FIRST_OF_ALL);
}

bool name_list_has(const char *list, const char *name)
{
    while (list && *list) {
        size_t same = 0;
        while (name[same] && list[same] == name[same])
            same++;
        if (list[same] == name[same] || (list[same] == '*' && !list[same + 1]))
            return true;
        list += same + strlen(list + same) + 1;
    }
    return false;
}
