/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MODE 0666 /* less the umask, as every file that one writes */
#define TRIES 100

/* ---- Where ---- */

/* The path without the links at its end. 0 or a negative errno. */
static int find_target(struct text *target, const char *path)
{
    char *real = realpath(path, NULL);

    if (!real && errno != ENOENT)
        return -errno;
    text_add(target, real ? real : path);
    free(real);
    return target->failed ? -ENOMEM : 0;
}

/* The last part of a path; what is before it is a directory. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static int open_directory(const char *path)
{
    size_t length = (size_t)(last_part(path) - path);
    char *directory = length ? strndup(path, length) : strdup(".");

    if (!directory)
        return -ENOMEM;
    int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int result = fd < 0 ? -errno : fd;
    free(directory);
    return result;
}

/* Is there something that cannot be replaced by a file? */
static bool is_special(const char *path)
{
    struct stat about;

    return !stat(path, &about) && !S_ISREG(about.st_mode);
}

/* A name beside the target that nobody has. */
static void name_aside(struct whole_file *file, unsigned attempt)
{
    text_clear(&file->aside);
    text_format(&file->aside, ".%s.%ld-%u", last_part(file->target.data), (long)getpid(), attempt);
}

/* ---- Opening ---- */

/* With its name, where the file system has no files without. An open descriptor or a negative errno. */
static int open_named(struct whole_file *file)
{
    for (unsigned attempt = 0; attempt < TRIES; attempt++) {
        name_aside(file, attempt);
        if (file->aside.failed)
            return -ENOMEM;
        int fd = openat(file->directory, file->aside.data,
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE);
        if (fd >= 0)
            return fd;
        if (errno != EEXIST)
            return -errno;
    }
    return -EEXIST;
}

/* What has no name is gone with us, however we end. */
static int open_aside(struct whole_file *file)
{
    int fd = openat(file->directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, MODE);

    if (fd >= 0 && !access("/proc/self/fd", X_OK))
        return fd;
    if (fd >= 0)
        close(fd);
    return open_named(file);
}

static int open_special(const char *path)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

static void close_all(struct whole_file *file)
{
    if (file->out)
        fclose(file->out);
    if (file->directory >= 0)
        close(file->directory);
    text_free(&file->target);
    text_free(&file->aside);
    *file = (struct whole_file){.directory = -1};
}

int whole_file_open(struct whole_file *file, const char *path)
{
    int fd = -1;

    *file = (struct whole_file){.directory = -1};
    int result = find_target(&file->target, path);
    bool special = !result && is_special(file->target.data);
    if (!result && !special)
        result = file->directory = open_directory(file->target.data);
    if (result >= 0)
        result = fd = special ? open_special(file->target.data) : open_aside(file);
    if (result >= 0) {
        file->out = fdopen(fd, "w");
        result = file->out ? 0 : -errno;
    }
    if (!result)
        return 0;
    if (fd >= 0 && !file->out)
        close(fd);
    whole_file_drop(file);
    return result;
}

/* ---- The end ---- */

/* Gives what was written without a name one beside the target. 0 or a negative errno. */
static int give_name(struct whole_file *file)
{
    char self[32];

    snprintf(self, sizeof(self), "/proc/self/fd/%d", fileno(file->out));
    for (unsigned attempt = 0; attempt < TRIES; attempt++) {
        name_aside(file, attempt);
        if (file->aside.failed)
            return -ENOMEM;
        if (!linkat(AT_FDCWD, self, file->directory, file->aside.data, AT_SYMLINK_FOLLOW))
            return 0;
        if (errno != EEXIST)
            break;
    }
    int result = -errno;
    text_clear(&file->aside);
    return result;
}

/* On the disk: a file whose name outlives a power failure, and its bytes not, is not whole. */
static int write_out(FILE *out)
{
    errno = 0;
    if (fflush(out) || ferror(out))
        return errno ? -errno : -EIO;
    return fsync(fileno(out)) && errno != EINVAL && errno != EROFS && errno != ENOTSUP ? -errno : 0;
}

static int put_in_place(struct whole_file *file)
{
    int result = file->aside.length ? 0 : give_name(file);

    if (!result && renameat(file->directory, file->aside.data, file->directory,
                            last_part(file->target.data)))
        result = -errno;
    if (!result)
        text_clear(&file->aside);
    return result;
}

int whole_file_finish(struct whole_file *file)
{
    int result = write_out(file->out);

    if (!result && file->directory >= 0)
        result = put_in_place(file);
    whole_file_drop(file);
    return result;
}

void whole_file_drop(struct whole_file *file)
{
    if (file->aside.length)
        unlinkat(file->directory, file->aside.data, 0);
    close_all(file);
}

int whole_file_check(const char *path)
{
    struct text target = {0};
    int result = find_target(&target, path);
    struct stat about;

    if (!result && !stat(target.data, &about)) {
        if (S_ISDIR(about.st_mode))
            result = -EISDIR;
        else if (access(target.data, W_OK))
            result = -errno;
    }
    if (!result && !is_special(target.data)) {
        int directory = open_directory(target.data);
        result = directory < 0 ? directory : 0;
        if (!result && faccessat(directory, ".", W_OK | X_OK, AT_EACCESS))
            result = -errno;
        if (directory >= 0)
            close(directory);
    }
    text_free(&target);
    return result;
}
