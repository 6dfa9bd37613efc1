/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/report_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "report/atomic_file.h"

#define BLOCK_BYTES 512 /* of st_blocks */

struct kept_file {
    int rank; /* files with a lower rank go first, whatever their time */
    char when[FILE_NAME_TIME + 1];
    uint64_t bytes;
    char *name;
};

struct kept_files {
    struct kept_file *items;
    size_t count, room;
    uint64_t bytes;
};

/* ---- The directory ---- */

/* A descriptor, so that a change of the path does not matter; or a negative errno. */
static int open_directory(const char *path)
{
    const char *name = base_name(path);
    struct safe_path walked = {.directory = -1};
    struct text around = {0};
    struct stat about;

    text_append(&around, path, (size_t)(name - path));
    text_add(&around, name == path ? "./" : "");
    int result = around.failed ? -ENOMEM : safe_path_walk(&walked, around.data);
    text_free(&around);
    if (result)
        return result;
    int fd = openat(walked.directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    result = fd < 0 || fstat(fd, &about) ? -errno : 0;
    close(walked.directory);
    if (!result && ((about.st_uid && about.st_uid != geteuid()) ||
                    (about.st_mode & (S_IWGRP | S_IWOTH))))
        result = -EPERM;
    if (result)
        close_fd(fd);
    return result ? result : fd;
}

bool retention_is_asked(const struct retention *keep)
{
    return keep->files || keep->bytes;
}

int retention_check_name(const char *path, struct text *error)
{
    const char *name = base_name(path);
    const int varies = file_name_varies(name);

    if (varies > 0 && (varies & FILE_NAME_HAS_TIME) && strchr(path, '%') >= name)
        return 0;
    return text_refuse(error, "--keep: the time in a file's name tells its age: -o \"%s\" needs "
                       "%%t, after its directory", path);
}

int retention_check_place(const char *path, struct text *error)
{
    int fd = open_directory(path);

    if (fd == -EPERM)
        text_format(error, "--keep: other users may write to the directory of \"%s\", so nothing "
                    "is deleted there: chmod go-w it, or use another", path);
    else if (fd < 0)
        text_format(error, "--keep: cannot read the directory of \"%s\": %s", path, strerror(-fd));
    else
        close(fd);
    return fd < 0 ? fd : 0;
}

/* ---- What there is ---- */

static int add_kept(struct kept_files *files, int directory, const char *template, const char *name)
{
    struct kept_file file = {0};
    struct stat about;

    if (!file_name_fits(template, name, file.when) ||
        fstatat(directory, name, &about, AT_SYMLINK_NOFOLLOW) || !S_ISREG(about.st_mode))
        return 0;
    int result = ARRAY_RESERVE(files->items, files->room, files->count + 1);
    file.name = result ? NULL : strdup(name);
    if (!file.name)
        return -ENOMEM;
    file.bytes = (uint64_t)about.st_blocks * BLOCK_BYTES;
    files->bytes += file.bytes;
    files->items[files->count++] = file;
    return 0;
}

static int read_directory(struct kept_files *files, int directory, const char *template)
{
    int copy = fcntl(directory, F_DUPFD_CLOEXEC, 0), result = 0;
    DIR *entries = copy < 0 ? NULL : fdopendir(copy);

    if (!entries) {
        result = -errno;
        close_fd(copy);
        return result;
    }
    rewinddir(entries);
    for (const struct dirent *entry; !result;) {
        errno = 0;
        entry = readdir(entries);
        if (!entry) {
            result = -errno;
            break;
        }
        result = add_kept(files, directory, template, entry->d_name);
    }
    closedir(entries);
    return result;
}

static int compare_ages(const void *left, const void *right)
{
    const struct kept_file *one = left, *other = right;

    return one->rank - other->rank ?: strcmp(one->when, other->when)
        ?: strcmp(one->name, other->name);
}

/* ---- What goes ---- */

static void see_time(struct retention_times *times, struct kept_files *files, const char *own)
{
    /* Until the clock goes back: the latest name, at the first report from earlier runs. */
    for (size_t i = 0; i < files->count && !times->ahead[0]; i++)
        if (strcmp(files->items[i].when, times->last) > 0)
            memcpy(times->last, files->items[i].when, sizeof(times->last));
    if (strcmp(own, times->last) <= 0) {
        memcpy(times->back, own, sizeof(times->back));
        if (strcmp(times->last, times->ahead) > 0)
            memcpy(times->ahead, times->last, sizeof(times->ahead));
    }
    memcpy(times->last, own, sizeof(times->last));
    for (size_t i = 0; i < files->count; i++) {
        struct kept_file *file = &files->items[i];
        const bool seems_younger = strcmp(file->when, own) > 0 &&
            strcmp(file->when, times->ahead) <= 0;
        file->rank = strcmp(file->when, times->back) < 0 ? 0 : seems_younger ? 1 : 2;
    }
}

static int take_away(const struct retention *keep, struct kept_files *files, int directory,
                     const char *own)
{
    uint64_t count = files->count, bytes = files->bytes;
    int result = 0;

    qsort(files->items, files->count, sizeof(*files->items), compare_ages);
    for (size_t i = 0; i < files->count; i++) {
        const struct kept_file *file = &files->items[i];
        if ((!keep->files || count <= keep->files) && (!keep->bytes || bytes <= keep->bytes))
            break;
        if (!strcmp(file->name, own))
            continue;
        if (unlinkat(directory, file->name, 0) && errno != ENOENT) {
            result = -errno;
            continue;
        }
        count--;
        bytes -= file->bytes;
    }
    return result;
}

int retention_prune(const struct retention *keep, const char *path, const char *name,
                    struct retention_times *times)
{
    struct kept_files files = {0};
    char own[FILE_NAME_TIME + 1];
    int directory = open_directory(path);

    if (directory < 0)
        return directory;
    int result = read_directory(&files, directory, base_name(path));
    if (!result && file_name_fits(base_name(path), base_name(name), own)) {
        see_time(times, &files, own);
        result = take_away(keep, &files, directory, base_name(name));
    }
    for (size_t i = 0; i < files.count; i++)
        free(files.items[i].name);
    free(files.items);
    close(directory);
    return result;
}
