/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/walked_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/text.h"

#define MOST_LINKS 40 /* the kernel's limit */

struct walk {
    struct walked_path *walked;
    struct text path; /* what is left of it, from `at` */
    size_t at;
    unsigned links;
    bool last; /* nothing follows the current part, not even a slash */
};

/* Continues from this directory. */
static int enter(struct walk *walk, int fd)
{
    if (fd < 0)
        return -errno;
    if (walk->walked->directory >= 0)
        close(walk->walked->directory);
    walk->walked->directory = fd;
    walk->walked->name[0] = '\0';
    return 1;
}

static int enter_by(struct walk *walk, int flags)
{
    const struct walked_path *walked = walk->walked;

    return enter(walk, openat(walked->directory, walked->name, O_PATH | O_DIRECTORY | O_CLOEXEC | flags));
}

/* Takes the next part. 1, 0: there are no more, or -ENAMETOOLONG. */
static int take_part(struct walk *walk)
{
    const char *part = walk->path.data + walk->at;

    part += strspn(part, "/");
    size_t length = strcspn(part, "/");
    if (length > NAME_MAX)
        return -ENAMETOOLONG;
    memcpy(walk->walked->name, part, length);
    walk->walked->name[length] = '\0';
    walk->at = (size_t)(part - walk->path.data) + length;
    walk->last = !part[length] && strcmp(walk->walked->name, ".") && strcmp(walk->walked->name, "..");
    return length > 0;
}

/* ---- Links ---- */

static int judge_link(int directory, const struct stat *link)
{
    struct stat around;

    if (fstat(directory, &around))
        return -errno;
    return (around.st_mode & S_IWOTH) && link->st_uid && link->st_uid != geteuid() ? -EACCES : 0;
}

static bool is_kernels(int link)
{
    struct statfs system;

    return !fstatfs(link, &system) && system.f_type == PROC_SUPER_MAGIC;
}

/* Puts a link's target before what is left. */
static int go_where_it_leads(struct walk *walk, int link)
{
    char leads[PATH_MAX];
    struct text next = {0};
    ssize_t length = readlinkat(link, "", leads, sizeof(leads));

    if (length <= 0 || (size_t)length == sizeof(leads))
        return length < 0 ? -errno : length ? -ENAMETOOLONG : -ENOENT;
    text_append(&next, leads, (size_t)length);
    text_add(&next, walk->path.data + walk->at);
    text_free(&walk->path);
    walk->path = next;
    walk->at = 0;
    if (next.failed)
        return -ENOMEM;
    return leads[0] == '/' ? enter(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) : 1;
}

/* Only the kernel knows where its own links lead: files have paths, directories need none. */
static int follow_kernels(struct walk *walk, int link)
{
    struct walked_path *walked = walk->walked;

    if (!walk->last)
        return enter_by(walk, 0);
    if (fstatat(walked->directory, walked->name, &walked->about, 0))
        return -errno;
    if (S_ISDIR(walked->about.st_mode))
        return enter_by(walk, 0);
    if (S_ISREG(walked->about.st_mode))
        return go_where_it_leads(walk, link);
    walked->kernels = walked->there = true;
    return 0;
}

static int follow(struct walk *walk, int link)
{
    if (++walk->links > MOST_LINKS)
        return -ELOOP;
    if (is_kernels(link))
        return follow_kernels(walk, link);
    int result = judge_link(walk->walked->directory, &walk->walked->about);
    return result ? result : go_where_it_leads(walk, link);
}

/* ---- The walk ---- */

/* Looks at the name taken last. 1: the walk goes on, 0: it is finished, or a negative errno. */
static int look(struct walk *walk)
{
    struct walked_path *walked = walk->walked;
    int fd = openat(walked->directory, walked->name, O_PATH | O_NOFOLLOW | O_CLOEXEC), result = 0;

    if (fd < 0)
        return errno == ENOENT && walk->last ? 0 : -errno;
    if (fstat(fd, &walked->about))
        result = -errno;
    else if (S_ISLNK(walked->about.st_mode))
        result = follow(walk, fd);
    else if (!walk->last)
        result = -ENOTDIR;
    else
        walked->there = true;
    close(fd);
    return result;
}

static int take_step(struct walk *walk)
{
    struct walked_path *walked = walk->walked;
    int result = take_part(walk);

    if (result < 0)
        return result;
    if (!result) {
        walked->there = true;
        return fstat(walked->directory, &walked->about) ? -errno : 0;
    }
    /* Parts on the way are mostly directories; an automounter must be triggered. */
    result = walk->last ? -ENOTDIR : enter_by(walk, O_NOFOLLOW);
    return result == -ENOTDIR ? look(walk) : result;
}

int walk_path(struct walked_path *walked, const char *path)
{
    struct walk walk = {.walked = walked};

    *walked = (struct walked_path){.directory = -1};
    if (!*path)
        return -ENOENT;
    text_add(&walk.path, path);
    int result = walk.path.failed ? -ENOMEM
                                  : enter(&walk, open(path[0] == '/' ? "/" : ".",
                                                      O_PATH | O_DIRECTORY | O_CLOEXEC));
    while (result > 0)
        result = take_step(&walk);
    text_free(&walk.path);
    if (result && walked->directory >= 0) {
        close(walked->directory);
        walked->directory = -1;
    }
    return result;
}
