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
#include "base/text.h"

#define MOST_LINKS 40 /* the kernel's limit */

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The kernel's name for the file; if that does not lead to it (a link in /proc), the given one. */
static int resolve_ours(const char *path, struct text *resolved)
{
    char link[64], target[PATH_MAX];
    struct stat there, here;
    int fd = open(path, O_PATH | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, target, sizeof(target) - 1);
    if (length > 0) {
        target[length] = '\0';
        if (*target == '/' && !fstat(fd, &there) && !stat(target, &here) &&
            same_file(&there, &here))
            path = target;
    }
    close(fd);
    text_clear(resolved);
    text_add(resolved, path);
    return resolved->failed ? -ENOMEM : 0;
}

struct walk {
    size_t root, length;     /* of the root's path, and in total, in `done` */
    unsigned links;
    char done[2 * PATH_MAX]; /* without links, except perhaps the last part */
    char rest[2 * PATH_MAX];
    char target[PATH_MAX];
};

static void leave_last(struct walk *walk)
{
    while (walk->length > walk->root && walk->done[--walk->length] != '/')
        ;
    walk->done[walk->length] = '\0';
}

/* If the last part is a link, puts its target before the rest of the path. */
static int follow_last(struct walk *walk)
{
    ssize_t got = readlink(walk->done, walk->target, sizeof(walk->target));
    size_t length = (size_t)got, rest = strlen(walk->rest);

    if (got < 0)
        return errno == EINVAL ? 0 : -errno; /* EINVAL: it exists and is not a link */
    if (++walk->links > MOST_LINKS)
        return -ELOOP;
    if (length >= sizeof(walk->target) || length + rest + 2 > sizeof(walk->rest))
        return -ENAMETOOLONG;
    memmove(walk->rest + length + 1, walk->rest, rest + 1);
    memcpy(walk->rest, walk->target, length);
    walk->rest[length] = '/';
    leave_last(walk);
    if (*walk->target == '/')
        walk->done[walk->length = walk->root] = '\0';
    return 0;
}

/* Enters the next part of the rest. */
static int step(struct walk *walk)
{
    const char *part = walk->rest + strspn(walk->rest, "/");
    size_t length = strcspn(part, "/");
    bool is_dot = length == 1 && *part == '.', is_up = length == 2 && !memcmp(part, "..", 2);

    if (is_up)
        leave_last(walk);
    if (length && !is_dot && !is_up) {
        if (walk->length + length + 2 > sizeof(walk->done))
            return -ENAMETOOLONG;
        walk->done[walk->length++] = '/';
        memcpy(walk->done + walk->length, part, length);
        walk->length += length;
        walk->done[walk->length] = '\0';
    }
    memmove(walk->rest, part + length, strlen(part + length) + 1);
    return length && !is_dot && !is_up ? follow_last(walk) : 0;
}

/*
 * The kernel would follow an absolute link from our root, not from theirs (except openat2, which is
 * newer, and gives no path to probe): so the path is walked here.
 */
static int resolve_in(const char *root, const char *path, struct text *resolved)
{
    struct walk walk = {.root = strlen(root)};
    int result = 0;

    if (walk.root >= PATH_MAX || strlen(path) >= PATH_MAX)
        return -ENAMETOOLONG;
    walk.length = walk.root;
    memcpy(walk.done, root, walk.root);
    memcpy(walk.rest, path, strlen(path));
    while (!result && *walk.rest)
        result = step(&walk);
    if (result)
        return result;
    text_clear(resolved);
    text_add(resolved, walk.done + walk.root);
    return resolved->failed ? -ENOMEM : 0;
}

int root_resolve(const char *root, const char *path, struct text *resolved)
{
    return *root ? resolve_in(root, path, resolved) : resolve_ours(path, resolved);
}

int root_open(const char *root, const char *resolved)
{
    char path[2 * PATH_MAX];
    struct stat file;
    int length = snprintf(path, sizeof(path), "%s%s", root, resolved);

    if (length < 0 || (size_t)length >= sizeof(path))
        return -ENAMETOOLONG;
    /* Opening a device or a pipe may have effects: only regular files are opened. */
    if (stat(path, &file))
        return -errno;
    if (!S_ISREG(file.st_mode))
        return S_ISDIR(file.st_mode) ? -EISDIR : -EINVAL;
    if (!path_has_programs(path))
        return -EINVAL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (*root ? O_NOFOLLOW : 0));
    return fd < 0 ? -errno : fd;
}

static int open_directory(const char *root, const char *resolved)
{
    char path[2 * PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s%s", root, resolved);

    if (length < 0 || (size_t)length >= sizeof(path))
        return -ENAMETOOLONG;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int root_take_here(unsigned way, const char *root, const char *path, struct text *resolved)
{
    if (way != ROOT_FILE && way != ROOT_DIRECTORY)
        return -EINVAL;
    int result = root_resolve(root, path, resolved);
    if (result)
        return result;
    return way == ROOT_FILE ? root_open(root, resolved->data)
                            : open_directory(root, resolved->data);
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
