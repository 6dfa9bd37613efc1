/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"

#define LINE_BUFFER_BYTES 65536

const char *say_as = "stackbox";
void (*before_say)(void);

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
    /* Copied, not cast: the caller's pointer has its own type. */
    memcpy(&array, items, sizeof(array));
    array = realloc(array, want * size);
    if (!array)
        return -ENOMEM;
    memcpy(items, &array, sizeof(array));
    *room = want;
    return 0;
}

void text_append(struct text *text, const char *bytes, size_t length)
{
    if (text->failed || length >= SIZE_MAX - text->length ||
        array_reserve(&text->data, &text->room, text->length + length + 1, 1)) {
        text->failed = true;
        return;
    }
    if (length)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void text_add(struct text *text, const char *string)
{
    text_append(text, string, strlen(string));
}

void text_format(struct text *text, const char *format, ...)
{
    char small[256];
    va_list list;

    va_start(list, format);
    int length = vsnprintf(small, sizeof(small), format, list);
    va_end(list);
    if (length < 0) {
        text->failed = true;
        return;
    }
    if ((size_t)length < sizeof(small)) {
        text_append(text, small, (size_t)length);
        return;
    }
    if (array_reserve(&text->data, &text->room, text->length + (size_t)length + 1, 1)) {
        text->failed = true;
        return;
    }
    va_start(list, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, list);
    va_end(list);
    text->length += (size_t)length;
}

void text_clear(struct text *text)
{
    text->length = 0;
    text->failed = false;
    if (text->data)
        text->data[0] = '\0';
}

void text_free(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
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

int parse_seconds(const char *string, uint64_t *nanoseconds)
{
    uint64_t whole = 0, fraction = 0, unit = 1000000000;
    bool over = false, any = false;

    for (; *string >= '0' && *string <= '9'; string++, any = true)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, (uint64_t)(*string - '0'), &whole))
            over = true;
    if (*string == '.')
        for (string++; *string >= '0' && *string <= '9'; string++, any = true) {
            unit /= 10; /* beyond the ninth digit it is 0, and so is what the digit adds */
            fraction += unit * (uint64_t)(*string - '0');
        }
    if (*string || !any)
        return -EINVAL;
    if (over || whole > MOST_SECONDS)
        return -ERANGE;
    *nanoseconds = whole * 1000000000 + fraction;
    return *nanoseconds ? 0 : -ERANGE;
}

const char *next_line(const char **rest, size_t *length)
{
    const char *line = *rest;

    if (!*line)
        return NULL;
    *length = strcspn(line, "\n");
    *rest = line + *length + (line[*length] == '\n');
    return line;
}

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

size_t sort_numbers(uint64_t *numbers, size_t count)
{
    size_t kept = 0;

    if (count)
        qsort(numbers, count, sizeof(*numbers), compare_numbers);
    for (size_t i = 0; i < count; i++)
        if (!kept || numbers[kept - 1] != numbers[i])
            numbers[kept++] = numbers[i];
    return kept;
}

size_t first_not_below(const uint64_t *numbers, size_t count, uint64_t least)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (numbers[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int lines_open(struct lines *lines, int fd)
{
    *lines = (struct lines){.fd = fd, .buffer = malloc(LINE_BUFFER_BYTES + 1)};
    return lines->buffer ? 0 : -ENOMEM;
}

/* Reads more behind what is unread. False when nothing more came. */
static bool lines_fill(struct lines *lines)
{
    if (lines->start) {
        memmove(lines->buffer, lines->buffer + lines->start, lines->end - lines->start);
        lines->end -= lines->start;
        lines->start = 0;
    }
    while (!lines->ended) {
        ssize_t got = read(lines->fd, lines->buffer + lines->end, LINE_BUFFER_BYTES - lines->end);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            lines->error = -errno;
        if (got <= 0) {
            lines->ended = true;
            break;
        }
        lines->end += (size_t)got;
        return true;
    }
    return false;
}

/* Drops what is left of a line that did not fit, up to and with its newline. */
static void lines_skip_rest(struct lines *lines)
{
    lines->skipping = false;
    do {
        char *newline = memchr(lines->buffer + lines->start, '\n', lines->end - lines->start);
        if (newline) {
            lines->start = (size_t)(newline + 1 - lines->buffer);
            return;
        }
        lines->start = lines->end;
    } while (lines_fill(lines));
}

char *lines_next(struct lines *lines, size_t *length)
{
    size_t searched = 0;

    if (lines->skipping)
        lines_skip_rest(lines);
    for (;;) {
        char *line = lines->buffer + lines->start;
        char *newline = memchr(line + searched, '\n', lines->end - lines->start - searched);
        if (newline) {
            *newline = '\0';
            *length = (size_t)(newline - line);
            lines->start += *length + 1;
            return line;
        }
        searched = lines->end - lines->start;
        if (searched == LINE_BUFFER_BYTES) {
            line[searched] = '\0';
            *length = searched;
            lines->start = lines->end;
            lines->skipping = true;
            lines->cut++;
            return line;
        }
        if (lines_fill(lines))
            continue;
        if (!searched)
            return NULL;
        line = lines->buffer + lines->start;
        line[searched] = '\0';
        *length = searched;
        lines->start = lines->end;
        return line;
    }
}

void lines_close(struct lines *lines)
{
    free(lines->buffer);
    lines->buffer = NULL;
}

int read_to_end(int fd, size_t limit, struct text *text)
{
    char piece[16384];

    for (;;) {
        ssize_t got = read(fd, piece, sizeof(piece));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (!got)
            return text->failed ? -ENOMEM : 0;
        if (text->length + (size_t)got > limit)
            return -EFBIG;
        text_append(text, piece, (size_t)got);
    }
}

int read_file(int directory, const char *path, size_t limit, struct text *text)
{
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    int result = read_to_end(fd, limit, text);
    close(fd);
    return result;
}

int open_seen(int seen, struct stat *about)
{
    char path[32];

    if (fstat(seen, about))
        return -errno;
    if (!S_ISREG(about->st_mode))
        return -ENODEV;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", seen);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

/* All of it, or as much as can be: there is nobody to tell that this failed. */
static void write_to_stderr(const char *bytes, size_t length)
{
    size_t written = 0;
    ssize_t count;

    while (written < length &&
           ((count = write(STDERR_FILENO, bytes + written, length - written)) > 0 ||
            (count < 0 && errno == EINTR)))
        written += count > 0 ? (size_t)count : 0;
}

/* Without memory a long line is cut, and bytes that could do harm are not shown. */
static __attribute__((format(printf, 1, 0))) void say_in_little_room(const char *format, va_list list)
{
    char line[512];
    int start = snprintf(line, sizeof(line), "%s: ", say_as);
    int length = vsnprintf(line + start, sizeof(line) - (size_t)start, format, list);
    size_t end = strnlen(line, sizeof(line) - 1);

    if (length < 0)
        return;
    for (size_t i = 0; i < end; i++)
        if (line[i] < 0x20 || line[i] > 0x7e)
            line[i] = '?';
    line[end] = '\n';
    write_to_stderr(line, end + 1);
}

/* False where memory is out: nothing was said. */
static __attribute__((format(printf, 1, 0))) bool say_in_full(const char *format, va_list list)
{
    struct text raw = {0}, shown = {0};
    char *line = NULL;

    if (vasprintf(&line, format, list) < 0)
        return false;
    text_format(&raw, "%s: %s", say_as, line);
    free(line);
    if (!raw.failed)
        escape_bytes(&shown, raw.data, raw.length);
    text_add(&shown, "\n");
    bool whole = !raw.failed && !shown.failed;
    if (whole)
        write_to_stderr(shown.data, shown.length);
    text_free(&raw);
    text_free(&shown);
    return whole;
}

const char *output_error(int error)
{
    return error == EBADF ? "stdout is closed" : strerror(error);
}

void say(const char *format, ...)
{
    va_list list, again;

    if (before_say)
        before_say();
    va_start(list, format);
    va_copy(again, list);
    if (!say_in_full(format, list))
        say_in_little_room(format, again);
    va_end(again);
    va_end(list);
}
