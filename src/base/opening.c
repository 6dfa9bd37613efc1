/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/opening.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/util.h"

#define MOST_LINKS 40 /* the kernel's limit */
#define MOST_DEPTH 128

/* ---- Below a root ---- */

/*
 * Each directory on the way stays open, so that ".." leads back to it: after a rename the kernel's
 * ".." leads elsewhere. openat2(2) (5.6) would do most of this, but fails on concurrent renames.
 */
struct walk {
    int fds[MOST_DEPTH]; /* [0]: the root; the last: what the path has led to so far */
    size_t lengths[MOST_DEPTH]; /* of `done` above each */
    unsigned depth, links;
    struct text *done;
    char rest[2 * PATH_MAX];
};

static void leave_last(struct walk *walk)
{
    if (!walk->depth)
        return;
    close(walk->fds[walk->depth]);
    walk->done->length = walk->lengths[walk->depth--];
    walk->done->data[walk->done->length] = '\0';
}

/* Puts the link's target before the rest of the path. */
static int follow(struct walk *walk, int link)
{
    char target[PATH_MAX];
    const ssize_t got = readlinkat(link, "", target, sizeof(target));
    const size_t length = (size_t)got, rest = strlen(walk->rest);

    if (got < 0)
        return -errno;
    if (++walk->links > MOST_LINKS)
        return -ELOOP;
    if (length >= sizeof(target) || length + rest + 2 > sizeof(walk->rest))
        return -ENAMETOOLONG;
    memmove(walk->rest + length + 1, walk->rest, rest + 1);
    memcpy(walk->rest, target, length);
    walk->rest[length] = '/';
    while (*target == '/' && walk->depth)
        leave_last(walk);
    return 0;
}

/* Takes over the descriptor. */
static int enter(struct walk *walk, int fd, const char *name)
{
    if (walk->depth + 1 == MOST_DEPTH) {
        close(fd);
        return -ENAMETOOLONG;
    }
    walk->fds[++walk->depth] = fd;
    walk->lengths[walk->depth] = walk->done->length;
    text_format(walk->done, "/%s", name);
    return walk->done->failed ? -ENOMEM : 0;
}

static int enter_or_follow(struct walk *walk, const char *name)
{
    int fd = openat(walk->fds[walk->depth], name, O_PATH | O_NOFOLLOW | O_CLOEXEC), result;
    struct stat about;

    if (fd < 0)
        return -errno;
    if (!fstat(fd, &about) && !S_ISLNK(about.st_mode))
        return enter(walk, fd, name);
    result = follow(walk, fd);
    close(fd);
    return result;
}

/* The next part of the rest. */
static int step(struct walk *walk)
{
    char name[NAME_MAX + 1];
    const char *part = walk->rest + strspn(walk->rest, "/");
    const size_t length = strcspn(part, "/");

    if (length >= sizeof(name))
        return -ENAMETOOLONG;
    memcpy(name, part, length);
    name[length] = '\0';
    memmove(walk->rest, part + length, strlen(part + length) + 1);
    if (!strcmp(name, ".."))
        leave_last(walk);
    else if (length && strcmp(name, "."))
        return enter_or_follow(walk, name);
    return 0;
}

int see_below(const char *root, const char *path, struct text *resolved)
{
    struct walk walk = {.done = resolved};
    int result = 0;

    text_clear(resolved);
    text_add(resolved, "");
    if (resolved->failed)
        return -ENOMEM;
    if (strlen(path) >= PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(walk.rest, path, strlen(path));
    walk.fds[0] = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (walk.fds[0] < 0)
        return -errno;
    while (!result && *walk.rest)
        result = step(&walk);
    for (unsigned i = 0; i < walk.depth; i++)
        close(walk.fds[i]);
    if (!result)
        return walk.fds[walk.depth];
    close(walk.fds[walk.depth]);
    return result;
}

/* ---- For reading ---- */

bool same_file(const struct stat *one, const struct stat *other)
{
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

/* Without /proc: checks the file again, as the path may lead to another one by now. */
static int open_again(const char *path, const struct stat *seen)
{
    struct stat about;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return -errno;
    if (!fstat(fd, &about) && same_file(&about, seen))
        return fd;
    close(fd);
    return -ESTALE;
}

int open_seen(int seen, const char *path, struct stat *about)
{
    char link[32];

    if (fstat(seen, about))
        return -errno;
    if (!S_ISREG(about->st_mode))
        return -ENODEV;
    if (!path)
        return seen;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", seen);
    int fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return open_again(path, about);
    return fd < 0 ? -errno : fd;
}

int open_regular(const char *path, int flags, struct stat *about)
{
    int seen = open(path, O_PATH | O_CLOEXEC | flags);

    if (seen < 0)
        return -errno;
    int fd = open_seen(seen, flags & O_PATH ? NULL : path, about);
    if (fd != seen)
        close(seen);
    return fd;
}

struct envelope {
    int error; /* 0: there is a descriptor with it */
    struct iovec piece;
    struct msghdr message;
    union {
        struct cmsghdr header; /* for its alignment */
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
};

static void make_envelope(struct envelope *envelope)
{
    *envelope = (struct envelope){0};
    envelope->piece = (struct iovec){&envelope->error, sizeof(envelope->error)};
    envelope->message = (struct msghdr){
        .msg_iov = &envelope->piece,
        .msg_iovlen = 1,
        .msg_control = envelope->control.bytes,
        .msg_controllen = sizeof(envelope->control.bytes),
    };
}

int pass_fd(int socket, int fd)
{
    struct envelope envelope;

    make_envelope(&envelope);
    if (fd < 0) {
        envelope.error = fd;
        envelope.message.msg_control = NULL;
        envelope.message.msg_controllen = 0;
    } else {
        struct cmsghdr *header = CMSG_FIRSTHDR(&envelope.message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &fd, sizeof(fd));
    }
    return UNINTERRUPTED(sendmsg(socket, &envelope.message, MSG_NOSIGNAL)) < 0 ? -errno : 0;
}

int take_fd(int socket)
{
    struct envelope envelope;
    int fd;

    make_envelope(&envelope);
    if (UNINTERRUPTED(recvmsg(socket, &envelope.message, MSG_CMSG_CLOEXEC)) !=
        sizeof(envelope.error))
        return -EPIPE;
    struct cmsghdr *header = CMSG_FIRSTHDR(&envelope.message);
    if (!header)
        return envelope.error < 0 && envelope.error >= -4095 ? envelope.error : -EPIPE;
    if (header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int)))
        return -EPIPE;
    memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    return fd;
}
