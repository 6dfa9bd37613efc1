/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Reading files, whole or by line, and memory of tasks. */
#ifndef STACKBOX_BASE_READING_H
#define STACKBOX_BASE_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"

/* read(2) that signals do not interrupt. How many bytes came, or a negative errno. */
ssize_t read_some(int fd, void *to, size_t size);

/*
 * Lines from an open descriptor, read in large pieces and never held whole. `fd` stays the
 * caller's. A line that does not fit into the buffer is cut there; the rest of it is skipped, and
 * `cut` counts it.
 */
struct lines {
    int fd;
    int error; /* 0, or the negative errno that ended the reading */
    size_t cut;
    size_t start, end;
    bool ended, skipping;
    char *buffer;
};

/* 0 or -ENOMEM; after 0, lines_close is needed. */
int lines_open(struct lines *lines, int fd);
/*
 * The next line, NUL-terminated and without its newline, valid until the next call; NULL at the
 * end.
 */
char *lines_next(struct lines *lines, size_t *length);
void lines_close(struct lines *lines);

/* Calls `take` with each line of a file below `directory` until it returns true. Did it? */
typedef bool take_line(void *context, char *line);
bool each_line(int directory, const char *path, take_line *take, void *context);

/*
 * Calls `take` with each number among the names in a directory of /proc until it returns something
 * other than 0, which is returned. 0 or a negative errno.
 */
typedef int take_pid(void *context, uint32_t number);
int each_number(const char *path, take_pid *take, void *context);

/*
 * Appends a whole small file below `directory` (AT_FDCWD: as the path says) to `text`, which may
 * grow to `limit` bytes; a longer file is -EFBIG. 0 or a negative errno. An empty file leaves an
 * empty text without data.
 */
int read_file(int directory, const char *path, size_t limit, struct text *text);
/* The same for the rest of an open descriptor, which stays the caller's. */
int read_to_end(int fd, size_t limit, struct text *text);

struct stat;

/*
 * How many bytes of a file may be read in total: several times what it takes on disk. A sparse
 * file of 20 KB may have a petabyte of zeros. `fd`'s offset stays.
 */
uint64_t reading_budget(int fd, const struct stat *about);

/* Reads a task's memory from this address on, as far as possible. How many bytes were read. */
size_t read_memory(uint32_t tid, uint64_t address, void *to, size_t size);

/*
 * The first number of the line `line` of a task's /proc status file; STATUS_UID: the real user.
 * 0 or a negative errno.
 */
int read_status(int directory, const char *path, const char *line, uint32_t *number);
#define STATUS_UID "\nUid:"

/*
 * Words of /proc/PID/stat, counted from the last ")": the name before it may contain anything.
 * (Their numbers in proc(5) are greater by two.)
 */
enum stat_word {
    STAT_STATE = 1,
    STAT_FLAGS = 7,
    STAT_USER_TIME = 12,
    STAT_SYSTEM_TIME = 13,
    STAT_START = 20,
    STAT_CPU = 37,
};

/* Appends the whole file to `stat`, and returns where its words begin there; or NULL. */
const char *read_stat_words(uint32_t pid, struct text *stat);

#endif
