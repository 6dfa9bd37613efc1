/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/opening.h"
#include "base/say.h"
#include "base/util.h"

#define MOST_LINKS 40 /* the kernel's limit */

struct walk {
    struct safe_path *walked;
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
    close_fd(walk->walked->directory);
    walk->walked->directory = fd;
    walk->walked->name[0] = '\0';
    return 1;
}

static int enter_by(struct walk *walk, int flags)
{
    const struct safe_path *walked = walk->walked;

    return enter(walk, openat(walked->directory, walked->name,
                              O_PATH | O_DIRECTORY | O_CLOEXEC | flags));
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
    walk->last = !part[length] && strcmp(walk->walked->name, ".") &&
        strcmp(walk->walked->name, "..");
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

/* Only the kernel can follow its own links: a file has a path, and a directory needs none. */
static int follow_kernels(struct walk *walk, int link)
{
    struct safe_path *walked = walk->walked;

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

/* Opens the component taken last. 1: the walk goes on, 0: it is finished, or a negative errno. */
static int look(struct walk *walk)
{
    struct safe_path *walked = walk->walked;
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
    struct safe_path *walked = walk->walked;
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

int safe_path_walk(struct safe_path *walked, const char *path)
{
    struct walk walk = {.walked = walked};

    *walked = (struct safe_path){.directory = -1};
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

#define BUFFER_BYTES 65536
#define MODE 0666 /* less the umask, as usual */
#define TRIES 100
#define LEFT_SECONDS 600
#define NO_DESCRIPTOR INT_MIN

/* ---- Where ---- */

static int find_target(struct atomic_file *file, const char *path)
{
    int result = safe_path_walk(&file->target, path);

    if (result || !file->target.there)
        return result;
    file->special = !S_ISREG(file->target.about.st_mode);
    return S_ISDIR(file->target.about.st_mode) ? -EISDIR : 0;
}

/* A path that stands for an inherited descriptor: its number, -EBADF, or NO_DESCRIPTOR. */
static int descriptor_of(const char *path)
{
    static const char *const places[] = {"/dev/fd/", "/proc/self/fd/"};
    uint64_t number;

    if (!strcmp(path, "/dev/stdout"))
        return STDOUT_FILENO;
    if (!strcmp(path, "/dev/stderr"))
        return STDERR_FILENO;
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        const char *digits = starts_with(path, places[i]);
        if (!digits || parse_number(digits, 0, INT_MAX, &number))
            continue;
        /* Our own are all close-on-exec; inherited ones, which a path can mean, are not. */
        const int flags = fcntl((int)number, F_GETFD);
        return flags < 0 || (flags & FD_CLOEXEC) ? -EBADF : (int)number;
    }
    return NO_DESCRIPTOR;
}

/* A name beside the target's, even if that has the maximum length. */
static int name_aside(struct atomic_file *file, const char *whose, unsigned attempt)
{
    text_clear(&file->aside);
    text_format(&file->aside, ".%.200s.%s-%u", file->target.name, whose, attempt);
    return file->aside.failed ? -ENOMEM : 0;
}

/* ---- Opening ---- */

/* With an unused name, for file systems without O_TMPFILE. A descriptor or a negative errno. */
static int open_named(struct atomic_file *file)
{
    char own[16];

    snprintf(own, sizeof(own), "%ld", (long)getpid());
    for (unsigned attempt = 0; attempt < TRIES; attempt++) {
        if (name_aside(file, own, attempt))
            return -ENOMEM;
        int fd = openat(file->target.directory, file->aside.data,
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

/* The kernel deletes a file without a name when we end, also by a signal. */
static int open_aside(struct atomic_file *file)
{
    int fd = openat(file->target.directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, MODE);

    if (fd >= 0 && !access("/proc/self/fd", X_OK))
        return fd;
    close_fd(fd);
    return open_named(file);
}

/* Copies the old file's owner and mode, unless another user put it into a sticky directory. */
static int keep_mode(const struct atomic_file *file, int fd)
{
    const struct stat *before = &file->target.about;
    struct stat around;

    if (!file->target.there || file->anew)
        return 0;
    if (fstat(file->target.directory, &around))
        return -errno;
    if ((around.st_mode & S_ISVTX) && before->st_uid != geteuid())
        return 0;
    /* If we may not give it away, it stays ours. */
    if (fchown(fd, before->st_uid, before->st_gid) && fchown(fd, (uid_t)-1, before->st_gid))
        errno = 0;
    /* A file system without modes has none to keep. */
    return fchmod(fd, before->st_mode & 0777) && errno != EPERM && errno != ENOTSUP ? -errno : 0;
}

static int open_beside(struct atomic_file *file)
{
    int fd = open_aside(file);

    if (fd < 0)
        return fd;
    int result = keep_mode(file, fd);
    if (result)
        close(fd);
    return result ? result : fd;
}

/*
 * Opens what is written to directly, if it has not become something else. A descriptor or a
 * negative errno.
 */
static int open_special(const struct atomic_file *file)
{
    const struct stat *before = &file->target.about;
    struct stat now;
    int fd = openat(file->target.directory, file->target.name,
                    O_WRONLY | O_CLOEXEC | (file->target.kernels ? 0 : O_NOFOLLOW));

    if (fd < 0)
        return -errno;
    int result = fstat(fd, &now) ? -errno
                 : same_file(&now, before) ? 0 : -EAGAIN;
    if (result)
        close(fd);
    return result ? result : fd;
}

static int open_descriptor(int number)
{
    int fd = number < 0 ? number : fcntl(number, F_DUPFD_CLOEXEC, 0);

    return fd == -1 ? -errno : fd;
}

static int open_path(struct atomic_file *file, const char *path)
{
    int result = find_target(file, path);

    return result ? result : file->special ? open_special(file) : open_beside(file);
}

static void close_all(struct atomic_file *file)
{
    if (file->out)
        fclose(file->out);
    free(file->buffer);
    close_fd(file->target.directory);
    text_free(&file->aside);
    *file = (struct atomic_file){.target.directory = -1};
}

int atomic_file_open(struct atomic_file *file, const char *path, bool anew)
{
    int number = descriptor_of(path), result = 0;

    *file = (struct atomic_file){.target.directory = -1, .anew = anew};
    int fd = number == NO_DESCRIPTOR ? open_path(file, path) : open_descriptor(number);
    if (fd < 0) {
        result = fd;
    } else {
        file->out = fdopen(fd, "w");
        result = file->out ? 0 : -errno;
    }
    if (!result) {
        /* Small pieces take many calls; without this memory libc's small buffer is used. */
        file->buffer = malloc(BUFFER_BYTES);
        if (file->buffer)
            setvbuf(file->out, file->buffer, _IOFBF, BUFFER_BYTES);
    }
    if (!result)
        return 0;
    if (fd >= 0 && !file->out)
        close(fd);
    atomic_file_drop(file);
    return result;
}

/* ---- The end ---- */

/* Gives the unnamed file a name. 0 or a negative errno. */
static int link_as(const struct atomic_file *file, const char *name)
{
    char self[32];

    snprintf(self, sizeof(self), "/proc/self/fd/%d", fileno(file->out));
    return linkat(AT_FDCWD, self, file->target.directory, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* To the disk: a file whose name survives a power failure, but not its bytes, is not whole. */
static int write_out(FILE *out)
{
    errno = 0;
    const int result = output_flush(out);
    if (result)
        return result;
    return fsync(fileno(out)) && errno != EINVAL && errno != EROFS && errno != ENOTSUP ? -errno : 0;
}

static int move(const struct atomic_file *file)
{
    int directory = file->target.directory;

    return renameat(directory, file->aside.data, directory, file->target.name) ? -errno : 0;
}

/* Atomically, if the file system can. */
static int move_anew(const struct atomic_file *file)
{
    int directory = file->target.directory;

    if (!syscall(SYS_renameat2, directory, file->aside.data, directory, file->target.name,
                 RENAME_NOREPLACE))
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    return faccessat(directory, file->target.name, F_OK, AT_SYMLINK_NOFOLLOW) ? move(file)
        : -EEXIST;
}

static int rename_aside(struct atomic_file *file)
{
    int result = file->anew ? move_anew(file) : move(file);

    if (!result)
        text_clear(&file->aside);
    return result;
}

/* Removes the name left by a process killed before its rename; others have one only for moments. */
static void remove_left(const struct atomic_file *file)
{
    struct stat about;

    if (!fstatat(file->target.directory, file->aside.data, &about, AT_SYMLINK_NOFOLLOW) &&
        about.st_mtime < time(NULL) - LEFT_SECONDS)
        unlinkat(file->target.directory, file->aside.data, 0);
}

/* link(2) cannot replace a file: links a name beside the target, and renames that. */
static int replace(struct atomic_file *file)
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

static int put_in_place(struct atomic_file *file)
{
    if (file->aside.length)
        return rename_aside(file);
    int result = file->target.there && !file->anew ? -EEXIST : link_as(file, file->target.name);
    return result == -EEXIST && !file->anew ? replace(file) : result;
}

int atomic_file_finish(struct atomic_file *file)
{
    int result = write_out(file->out);

    if (!result && file->target.directory >= 0 && !file->special)
        result = put_in_place(file);
    if (result != -EEXIST || !file->anew)
        atomic_file_drop(file);
    return result;
}

int atomic_file_rename(struct atomic_file *file, const char *path)
{
    const char *name = base_name(path);

    if (strlen(name) > NAME_MAX)
        return -ENAMETOOLONG;
    strcpy(file->target.name, name);
    return 0;
}

void atomic_file_drop(struct atomic_file *file)
{
    if (file->aside.length)
        unlinkat(file->target.directory, file->aside.data, 0);
    close_all(file);
}

/* Refuses if the user may not write to the existing file, or may not create files beside it. */
static int check_rights(const struct atomic_file *file)
{
    if (file->target.there && faccessat(file->target.directory, file->target.name, W_OK,
                                        AT_EACCESS))
        return -errno;
    if (!file->special && faccessat(file->target.directory, ".", W_OK | X_OK, AT_EACCESS))
        return -errno;
    return 0;
}

int atomic_file_check(const char *path)
{
    struct atomic_file file = {.target.directory = -1};
    int number = descriptor_of(path);

    if (number != NO_DESCRIPTOR)
        return number < 0 ? number : 0;
    int result = find_target(&file, path);
    if (!result)
        result = check_rights(&file);
    close_all(&file);
    return result;
}
