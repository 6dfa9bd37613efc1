/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Files for tests: in memory, and in a directory of the test's own. */
#ifndef STACKBOX_TEST_FILES_H
#define STACKBOX_TEST_FILES_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

/* An open file with these bytes, at its beginning. */
static inline int file_of(const void *bytes, size_t length)
{
    int fd = memfd_create("file", MFD_CLOEXEC);

    if (fd < 0 || write(fd, bytes, length) != (ssize_t)length || lseek(fd, 0, SEEK_SET))
        WRONG("a file");
    return fd;
}

static inline int file_of_text(const char *text)
{
    return file_of(text, strlen(text));
}

/* A path in `directory`, valid until the fourth call after it. */
static inline char *path_in(const char *directory, const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
    return path;
}

#endif
