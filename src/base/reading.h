/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Files, whole or by line, and what may be opened. */
#ifndef STACKBOX_BASE_READING_H
#define STACKBOX_BASE_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

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

#endif
