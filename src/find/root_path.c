/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/root_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apart/apart.h"
#include "apart/apart_places.h"
#include "base/opening.h"
#include "base/text.h"

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The kernel's name for what is open; if that does not lead to it (a link in /proc), the given one. */
static int name_ours(int fd, const char *path, struct text *resolved)
{
    char link[64], target[PATH_MAX];
    struct stat there, here;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, target, sizeof(target) - 1);
    if (length > 0) {
        target[length] = '\0';
        if (*target == '/' && !fstat(fd, &there) && !stat(target, &here) &&
            same_file(&there, &here))
            path = target;
    }
    text_clear(resolved);
    text_add(resolved, path);
    return resolved->failed ? -ENOMEM : 0;
}

static int open_directory(const char *root, const char *path, struct text *resolved)
{
    int seen = *root ? see_below(root, path, resolved)
                     : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (seen < 0)
        return *root ? seen : -errno;
    int fd = openat(seen, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = errno;
    close(seen);
    return fd < 0 ? -error : fd;
}

int root_take_here(unsigned way, const char *root, const char *path, struct text *resolved)
{
    if (way != ROOT_FILE && way != ROOT_DIRECTORY)
        return -EINVAL;
    int fd = way == ROOT_FILE ? place_open(root, path, resolved)
                              : open_directory(root, path, resolved);
    int result = fd >= 0 && !*root ? name_ours(fd, path, resolved) : 0;
    if (!result)
        return fd;
    close(fd);
    return result;
}

int root_take(enum root_way way, const char *root, const char *path, struct text *resolved)
{
    return apart_is_here() ? apart_ask((unsigned char)way, root, path, resolved)
                           : root_take_here(way, root, path, resolved);
}

static bool same_namespace(uint32_t pid)
{
    char path[64], theirs[64], ours[64];

    snprintf(path, sizeof(path), "/proc/%u/ns/mnt", pid);
    ssize_t length = readlink(path, theirs, sizeof(theirs));
    return length > 0 && readlink("/proc/self/ns/mnt", ours, sizeof(ours)) == length &&
           !memcmp(theirs, ours, (size_t)length);
}

int root_of_process(uint32_t pid, struct text *root)
{
    struct stat theirs, ours;

    text_clear(root);
    text_format(root, "/proc/%u/root/", pid); /* the directory, not the link to it */
    if (root->failed)
        return -ENOMEM;
    if (stat(root->data, &theirs) || stat("/", &ours) ||
        (same_file(&theirs, &ours) && same_namespace(pid)))
        text_clear(root);
    else
        root->data[--root->length] = '\0';
    return 0;
}
