/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What every room needs: arrays that grow, text that grows, exact numbers, lines of a file. */
#ifndef STACKBOX_UTIL_H
#define STACKBOX_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The inode of the initial pid namespace, the same in every kernel. */
#define INITIAL_PID_NAMESPACE 0xeffffffc

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Makes room for `need` items of `size` bytes in *items, whose room is *room items; *items may be
 * NULL with a room of 0. Grows by doubling. 0, or -ENOMEM with the old array left as it was.
 * The caller frees *items with free().
 */
int array_reserve(void *items, size_t *room, size_t need, size_t size);

/* Text that grows. {0} is empty; data is NUL-terminated once anything was appended. */
struct text {
    char *data;
    size_t length, room;
    bool failed; /* memory ran out somewhere: what is in data is not whole */
};

void text_append(struct text *text, const char *bytes, size_t length);
void text_add(struct text *text, const char *string);
void text_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Empties it and keeps its memory. */
void text_clear(struct text *text);
void text_free(struct text *text);

/*
 * A whole number: decimal, or hexadecimal after 0x. The text must be all digits, without sign or
 * blank. 0, -EINVAL when it is no number, -ERANGE when it is outside [least, greatest].
 */
int parse_number(const char *string, uint64_t least, uint64_t greatest, uint64_t *number);

/* 292 years: what is added to the clock does not overflow. */
#define MOST_SECONDS (INT64_MAX / 1000000000 - 1)

/* Seconds as a plain decimal ("5", "0.25") into nanoseconds; more than 0. As parse_number. */
int parse_seconds(const char *string, uint64_t *nanoseconds);

/*
 * The next line of a text in memory: where it begins, with its length in *length; *rest is behind it
 * then. NULL: there is none left.
 */
const char *next_line(const char **rest, size_t *length);

/* Sorts numbers, and leaves one of each. Returns how many are left. */
size_t sort_numbers(uint64_t *numbers, size_t count);

/* Where in sorted numbers the first stands that is not below `least`; `count`: none is. */
size_t first_not_below(const uint64_t *numbers, size_t count, uint64_t least);

/* The monotonic clock in nanoseconds. */
uint64_t now_ns(void);

/*
 * Lines of an open descriptor, read in large pieces and never held whole. `fd` stays the caller's.
 * A line that fills the buffer is cut there and its rest is skipped, which `cut` counts.
 */
struct lines {
    int fd;
    int error; /* 0, or the negative errno that ended the reading */
    size_t cut;
    size_t start, end;
    bool ended, skipping;
    char *buffer;
};

/* 0 or -ENOMEM; lines_close is needed after 0. */
int lines_open(struct lines *lines, int fd);
/* The next line, NUL-terminated, without its newline, good until the next call; NULL at the end. */
char *lines_next(struct lines *lines, size_t *length);
void lines_close(struct lines *lines);

/*
 * Appends a whole small file below `directory` (AT_FDCWD: as the path says) to `text`, which may
 * come to `limit` bytes; a file that is longer is -EFBIG. 0 or a negative errno. An empty file
 * leaves the text of an empty one as it was: without data.
 */
int read_file(int directory, const char *path, size_t limit, struct text *text);
/* The same of what is left of an open descriptor, which stays the caller's. */
int read_to_end(int fd, size_t limit, struct text *text);

struct stat;

/*
 * Opens for reading what `seen` (O_PATH) is, if that is a plain file: to some devices it means
 * something to be opened. *about: what it is. A descriptor, -ENODEV for what is no plain file, -ENOENT
 * without /proc, or another negative errno. `seen` stays the caller's.
 */
int open_seen(int seen, struct stat *about);

/* A line on stderr, with the name of the running applet before it; control bytes are escaped. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Why stdout could not be written to, by the errno of that. */
const char *output_error(int error);
/* The name that say() puts first: set once, by main(). */
extern const char *say_as;
/* Called before such a line: what stands there and is no whole line must go first. Or NULL. */
extern void (*before_say)(void);

#endif
