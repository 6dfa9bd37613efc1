/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "processes/mapped_open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/opening.h"
#include "base/text.h"
#include "base/util.h"

/* File systems whose files have another st_dev or st_ino than their mappings show. */
#define OVERLAY_MAGIC 0x794c7630
#define BTRFS_MAGIC 0x9123683e

/* FS_IOC_GETVERSION of linux/fs.h; file systems that lack it refuse it. */
#define GET_GENERATION _IOR('v', 1, long)

uint64_t mapped_file_time(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

/* A time of the monotonic clock, converted to file times. */
static uint64_t to_file_time(uint64_t time)
{
    struct timespec real;

    clock_gettime(CLOCK_REALTIME, &real);
    return mapped_file_time(&real) - now_ns() + time;
}

static bool same_path(const char *link, const char *path)
{
    static const char deleted[] = " (deleted)";
    size_t length = strlen(path);

    return !strncmp(link, path, length) &&
           (!link[length] || !strcmp(link + length, deleted));
}

/* A deleted file leaves its inode number to a new one; the generation tells them apart. */
static bool is_of_generation(int fd, uint64_t generation)
{
    long version = 0;

    return !generation || ioctl(fd, GET_GENERATION, &version) ||
           (uint32_t)version == (uint32_t)generation;
}

/*
 * Is what was opened what is mapped? If a file system's numbers do not tell: when opened through
 * the mapping, the path must be the same (the process may run another program by now); when opened
 * by path, nothing may have changed since it was mapped.
 */
static bool is_mapped(int fd, const struct mapped_sight *sight, const char *link,
                      const struct stat *about)
{
    struct statfs system;
    char target[4096];

    if (about->st_ino == sight->inode && about->st_dev == sight->device)
        return link || is_of_generation(fd, sight->generation);
    if (fstatfs(fd, &system))
        return false;
    if ((uint32_t)system.f_type == BTRFS_MAGIC) {
        if (about->st_ino != sight->inode)
            return false;
    } else if ((uint32_t)system.f_type != OVERLAY_MAGIC) {
        return false;
    }
    if (!link)
        return !sight->time || mapped_file_time(&about->st_ctim) <= to_file_time(sight->time);
    ssize_t length = readlink(link, target, sizeof(target) - 1);
    target[length < 0 ? 0 : length] = '\0';
    return same_path(target, sight->path);
}

/* Opens a path and checks it; `is_link`: the path is a mapping's. Below 0: not this one. */
static int try_path(const char *path, bool is_link, const struct mapped_sight *sight,
                    struct stat *about)
{
    int fd = open_regular(path, 0, about);

    if (fd >= 0 && !is_mapped(fd, sight, is_link ? path : NULL, about)) {
        close(fd);
        fd = -ESTALE;
    }
    return fd;
}

int mapped_open_below(const char *root, const struct mapped_sight *sight, struct stat *about)
{
    struct text path = {0};

    text_format(&path, "%s%s", root, sight->path);
    int fd = path.failed ? -ENOMEM : try_path(path.data, false, sight, about);
    text_free(&path);
    return fd;
}

static int try_root(uint32_t pid, const struct mapped_sight *sight, struct stat *about)
{
    char root[32];

    snprintf(root, sizeof(root), "/proc/%u/root", pid);
    return pid ? mapped_open_below(root, sight, about) : -ENOENT;
}

int mapped_open(const struct mapped_sight *sight, uint32_t *root, struct stat *about)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", sight->pid,
             (unsigned long long)sight->start, (unsigned long long)sight->end);
    *root = sight->pid;
    int fd = try_path(path, true, sight, about);
    if (fd < 0 && fd != -ENODEV && sight->path[0] == '/') {
        int other = try_root(sight->pid, sight, about);
        if (other < 0) {
            *root = sight->parent;
            other = try_root(sight->parent, sight, about);
        }
        if (other < 0) {
            *root = (uint32_t)getpid();
            other = try_path(sight->path, false, sight, about);
        }
        if (other >= 0 || fd == -ENOENT || fd == -EPERM || fd == -EACCES)
            fd = other;
    }
    return fd;
}

bool mapped_changed_before(const struct stat *about, const struct mapped_sight *sight)
{
    uint64_t mapped = to_file_time(sight->time);

    /* Both: the first may be copied from another file, the second changes with every link, too. */
    return sight->time && mapped_file_time(&about->st_mtim) > mapped &&
           mapped_file_time(&about->st_ctim) > mapped;
}
