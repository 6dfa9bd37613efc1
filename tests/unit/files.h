/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Files for tests: in memory, and in a directory of the test's own. */
#ifndef STACKBOX_TEST_FILES_H
#define STACKBOX_TEST_FILES_H

#include <ftw.h>
#include <sys/mman.h>
#include <sys/stat.h>

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

/* A directory of the test's own. */
static char own_directory[] = "/tmp/stackbox-unit.XXXXXX";

static inline bool enter_own_directory(void)
{
    return mkdtemp(own_directory) && !chdir(own_directory);
}

/* What a test has left there is a failure. */
static inline void leave_own_directory(void)
{
    CHECK(!chdir("/") && !rmdir(own_directory));
}

static inline int remove_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about, (void)type, (void)where;
    return remove(path);
}

static inline void remove_own_directory(void)
{
    CHECK(!chdir("/") && !nftw(own_directory, remove_one, 8, FTW_DEPTH | FTW_PHYS));
}

#endif
