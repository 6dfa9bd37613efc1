/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES 65536
#define MODE 0666 /* less the umask, as every file that one writes */
#define TRIES 100
#define LEFT_SECONDS 600
#define MOST_LINKS 40 /* as the kernel has it */

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

/* ---- Where ---- */

/* In a directory where anybody may put links, somebody else's is not to say what we write. */
static int judge_link(const struct text *path, const struct stat *link)
{
    struct stat around;
    int directory = open_directory(path->data), result = directory < 0 ? directory : 0;

    if (!result && fstat(directory, &around))
        result = -errno;
    if (!result && (around.st_mode & S_ISVTX) && (around.st_mode & S_IWOTH) &&
        link->st_uid != geteuid() && link->st_uid != around.st_uid)
        result = -EACCES;
    if (directory >= 0)
        close(directory);
    return result;
}

/* Where the link leads that is open as `fd`. 0 or a negative errno. */
static int follow_link(struct text *path, int fd, const struct stat *link)
{
    char leads[PATH_MAX];
    int result = judge_link(path, link);

    if (result)
        return result;
    ssize_t length = readlinkat(fd, "", leads, sizeof(leads));
    if (length <= 0 || (size_t)length == sizeof(leads))
        return length < 0 ? -errno : -ENAMETOOLONG;
    size_t before = (size_t)(last_part(path->data) - path->data);
    struct text next = {0};
    text_append(&next, path->data, leads[0] == '/' ? 0 : before);
    text_append(&next, leads, (size_t)length);
    text_free(path);
    *path = next;
    return path->failed ? -ENOMEM : 0;
}

/* What stands there; a link is followed and 1 returned. 0: it is none, or a negative errno. */
static int look(struct whole_file *file)
{
    int fd = open(file->target.data, O_PATH | O_NOFOLLOW | O_CLOEXEC), result = 0;

    file->there = fd >= 0;
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    if (fstat(fd, &file->before)) {
        result = -errno;
    } else if (S_ISLNK(file->before.st_mode)) {
        result = follow_link(&file->target, fd, &file->before);
        result = result ? result : 1;
    }
    close(fd);
    return result;
}

/* Sets target, there, before and special. 0 or a negative errno. */
static int find_target(struct whole_file *file, const char *path)
{
    int result = 1;

    text_add(&file->target, path);
    if (file->target.failed)
        return -ENOMEM;
    /* What the kernel finds there may have no path of its own, such as a pipe of /proc. */
    file->special = !stat(path, &file->before) && !S_ISREG(file->before.st_mode);
    file->there = file->special;
    if (file->special)
        return S_ISDIR(file->before.st_mode) ? -EISDIR : 0;
    for (unsigned links = 0; result > 0; links++)
        result = links > MOST_LINKS ? -ELOOP : look(file);
    /* A file where there was none a moment ago, or the other way round, is as good. */
    return !result && file->there && !S_ISREG(file->before.st_mode) ? -EAGAIN : result;
}

/* Our own descriptors, which nobody means, are all closed by exec; those that were given are not. */
static int given_descriptor(int number)
{
    int flags = fcntl(number, F_GETFD);

    return flags < 0 || (flags & FD_CLOEXEC) ? -EBADF : number;
}

/* A path that stands for a descriptor that we were given: its number, -EBADF, or -1: it is none. */
static int descriptor_of(const char *path)
{
    static const char *const places[] = {"/dev/fd/", "/proc/self/fd/"};
    uint64_t number;

    if (!strcmp(path, "/dev/stdout"))
        return STDOUT_FILENO;
    if (!strcmp(path, "/dev/stderr"))
        return STDERR_FILENO;
    for (size_t i = 0; i < COUNT_OF(places); i++)
        if (!strncmp(path, places[i], strlen(places[i])) &&
            !parse_number(path + strlen(places[i]), 0, INT_MAX, &number))
            return given_descriptor((int)number);
    return -1;
}

/* A name beside the target, which may have as long a one as names can be. */
static int name_aside(struct whole_file *file, const char *whose, unsigned attempt)
{
    text_clear(&file->aside);
    text_format(&file->aside, ".%.200s.%s-%u", last_part(file->target.data), whose, attempt);
    return file->aside.failed ? -ENOMEM : 0;
}

/* ---- Opening ---- */

/* With a name that nobody has, where there are no files without. A descriptor or a negative errno. */
static int open_named(struct whole_file *file)
{
    char own[16];

    snprintf(own, sizeof(own), "%ld", (long)getpid());
    for (unsigned attempt = 0; attempt < TRIES; attempt++) {
        if (name_aside(file, own, attempt))
            return -ENOMEM;
        int fd = openat(file->directory, file->aside.data,
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE);
        if (fd >= 0)
            return fd;
        if (errno != EEXIST)
            break;
    }
    int result = -errno;
    text_clear(&file->aside);
    return result;
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

/* It has who may read it from what was there, unless that was put there by somebody else. */
static int keep_mode(const struct whole_file *file, int fd)
{
    const struct stat *before = &file->before;
    struct stat around;

    if (!file->there)
        return 0;
    if (fstat(file->directory, &around))
        return -errno;
    if ((around.st_mode & S_ISVTX) && before->st_uid != geteuid())
        return 0;
    /* Whoever may not give it away keeps it. */
    if (fchown(fd, before->st_uid, before->st_gid) && fchown(fd, (uid_t)-1, before->st_gid))
        errno = 0;
    /* A file system without modes has none to keep. */
    return fchmod(fd, before->st_mode & 0777) && errno != EPERM && errno != ENOTSUP ? -errno : 0;
}

static int open_beside(struct whole_file *file)
{
    int result = file->directory = open_directory(file->target.data);
    int fd = result < 0 ? result : open_aside(file);

    if (fd < 0)
        return fd;
    result = keep_mode(file, fd);
    if (result)
        close(fd);
    return result ? result : fd;
}

/* What is written to as it is: an open descriptor or a negative errno. */
static int open_special(const char *path, int number)
{
    int fd = number >= 0 ? fcntl(number, F_DUPFD_CLOEXEC, 0) : open(path, O_WRONLY | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

static void close_all(struct whole_file *file)
{
    if (file->out)
        fclose(file->out);
    free(file->buffer);
    if (file->directory >= 0)
        close(file->directory);
    text_free(&file->target);
    text_free(&file->aside);
    *file = (struct whole_file){.directory = -1};
}

int whole_file_open(struct whole_file *file, const char *path)
{
    int fd = -1, number = descriptor_of(path);

    *file = (struct whole_file){.directory = -1, .special = number >= 0};
    int result = number >= 0 ? 0 : number == -EBADF ? -EBADF : find_target(file, path);
    if (!result)
        result = fd = file->special ? open_special(path, number) : open_beside(file);
    if (result >= 0) {
        file->out = fdopen(fd, "w");
        result = file->out ? 0 : -errno;
    }
    if (!result) {
        /* Small pieces cost many calls; without this memory it is the libc's small ones. */
        file->buffer = malloc(BUFFER_BYTES);
        if (file->buffer)
            setvbuf(file->out, file->buffer, _IOFBF, BUFFER_BYTES);
    }
    if (!result)
        return 0;
    if (fd >= 0 && !file->out)
        close(fd);
    whole_file_drop(file);
    return result;
}

/* ---- The end ---- */

/* Links what was written without a name. 0 or a negative errno. */
static int link_as(const struct whole_file *file, const char *name)
{
    char self[32];

    snprintf(self, sizeof(self), "/proc/self/fd/%d", fileno(file->out));
    return linkat(AT_FDCWD, self, file->directory, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* On the disk: a file whose name outlives a power failure, and its bytes not, is not whole. */
static int write_out(FILE *out)
{
    errno = 0;
    if (fflush(out) || ferror(out))
        return errno ? -errno : -EIO;
    return fsync(fileno(out)) && errno != EINVAL && errno != EROFS && errno != ENOTSUP ? -errno : 0;
}

static int rename_aside(struct whole_file *file)
{
    int result = renameat(file->directory, file->aside.data, file->directory,
                          last_part(file->target.data));

    result = result ? -errno : 0;
    if (!result)
        text_clear(&file->aside);
    return result;
}

/* Who is killed between link and renaming leaves a name; nobody else has one for so long. */
static void remove_left(const struct whole_file *file)
{
    struct stat about;

    if (!fstatat(file->directory, file->aside.data, &about, AT_SYMLINK_NOFOLLOW) &&
        about.st_mtime < time(NULL) - LEFT_SECONDS)
        unlinkat(file->directory, file->aside.data, 0);
}

/* A link takes nobody's place: it goes by a name beside the target. */
static int replace(struct whole_file *file)
{
    int result = -EEXIST;

    for (unsigned attempt = 0; attempt < TRIES && result == -EEXIST; attempt++) {
        if (name_aside(file, "new", attempt))
            return -ENOMEM;
        remove_left(file);
        result = link_as(file, file->aside.data);
    }
    if (!result)
        return rename_aside(file);
    text_clear(&file->aside);
    return result;
}

static int put_in_place(struct whole_file *file)
{
    if (file->aside.length)
        return rename_aside(file);
    int result = file->there ? -EEXIST : link_as(file, last_part(file->target.data));
    return result == -EEXIST ? replace(file) : result;
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

static int check_directory(const char *path)
{
    int directory = open_directory(path), result = directory < 0 ? directory : 0;

    if (!result && faccessat(directory, ".", W_OK | X_OK, AT_EACCESS))
        result = -errno;
    if (directory >= 0)
        close(directory);
    return result;
}

int whole_file_check(const char *path)
{
    struct whole_file file = {.directory = -1};
    int number = descriptor_of(path), result = 0;

    if (number >= 0 || number == -EBADF)
        return number < 0 ? number : 0;
    result = find_target(&file, path);
    if (!result && file.there && faccessat(AT_FDCWD, file.target.data, W_OK, AT_EACCESS))
        result = -errno;
    if (!result && !file.special)
        result = check_directory(file.target.data);
    close_all(&file);
    return result;
}
