/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "processes/mapped_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/opening.h"
#include "base/reading.h"
#include "base/util.h"
#include "sandbox/sandbox.h"

/* ---- Opening ---- */

/* File systems whose mappings show another st_dev or st_ino than their files have. */
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
    const char *rest = starts_with(link, path);

    return rest && (!*rest || !strcmp(rest, deleted));
}

/* A new file may reuse a deleted one's inode number; the generation tells them apart. */
static bool is_of_generation(int fd, uint64_t generation)
{
    long version = 0;

    return !generation || ioctl(fd, GET_GENERATION, &version) ||
           (uint32_t)version == (uint32_t)generation;
}

enum way { BY_MAPPING, BY_ROOT, BY_OTHER_ROOT }; /* than the process's own */

/*
 * Is the opened file the mapped one? If the file system's numbers do not tell: a file opened
 * through its mapping must have the same path (the process may run another program by now), one
 * opened by path must be unchanged since it was mapped. Overlayfs shows the real inode's number,
 * below bits of its own, unless the file was copied up: in another root, only that number tells
 * another container's file from the mapped one.
 */
static bool is_mapped(int fd, const struct mapped_sight *sight, const char *path, enum way way,
                      const struct stat *about)
{
    const uint64_t differs = about->st_ino ^ sight->inode;
    struct statfs system;
    char target[4096];

    if (!differs && about->st_dev == sight->device)
        return way == BY_MAPPING || is_of_generation(fd, sight->generation);
    if (fstatfs(fd, &system))
        return false;
    if ((uint32_t)system.f_type == OVERLAY_MAGIC) {
        if (way == BY_OTHER_ROOT && (uint32_t)differs)
            return false;
    } else if ((uint32_t)system.f_type != BTRFS_MAGIC || differs) {
        return false;
    }
    if (way != BY_MAPPING)
        return !sight->time || mapped_file_time(&about->st_ctim) <= to_file_time(sight->time);
    ssize_t length = readlink(path, target, sizeof(target) - 1);
    target[length < 0 ? 0 : length] = '\0';
    return same_path(target, sight->path);
}

/* Opens a path and checks the file. Below 0: not this one. */
static int try_path(const char *path, enum way way, const struct mapped_sight *sight, int flags,
                    struct stat *about)
{
    int fd = open_regular(path, flags, about);

    if (fd >= 0 && !is_mapped(fd, sight, path, way, about)) {
        close(fd);
        fd = -ESTALE;
    }
    return fd;
}

/* Opens the file by its path below this root. */
static int open_below(const char *root, enum way way, const struct mapped_sight *sight, int flags,
                      struct stat *about)
{
    struct text path = {0};

    text_format(&path, "%s%s", root, sight->path);
    int fd = path.failed ? -ENOMEM : try_path(path.data, way, sight, flags, about);
    text_free(&path);
    return fd;
}

static int try_root(uint32_t pid, const struct mapped_sight *sight, int flags, struct stat *about)
{
    char root[32];

    snprintf(root, sizeof(root), "/proc/%u/root", pid);
    return pid ? open_below(root, pid == sight->pid ? BY_ROOT : BY_OTHER_ROOT, sight, flags, about)
               : -ENOENT;
}

/*
 * Opens a mapped file: through the mapping itself, which works even if the file was deleted, or
 * else by its path in the root of the process, of its parent if the process is gone, or in ours.
 * *root: the pid whose root it was. A descriptor or a negative errno.
 */
static int mapped_open(const struct mapped_sight *sight, int flags, uint32_t *root,
                       struct stat *about)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", sight->pid,
             (unsigned long long)sight->start, (unsigned long long)sight->end);
    *root = sight->pid;
    int fd = try_path(path, BY_MAPPING, sight, flags, about);
    if (fd < 0 && fd != -ENODEV && sight->path[0] == '/') {
        int other = try_root(sight->pid, sight, flags, about);
        if (other < 0) {
            *root = sight->parent;
            other = try_root(sight->parent, sight, flags, about);
        }
        if (other < 0) {
            *root = (uint32_t)getpid();
            other = try_path(sight->path, BY_OTHER_ROOT, sight, flags, about);
        }
        if (other >= 0 || fd == -ENOENT || fd == -EPERM || fd == -EACCES)
            fd = other;
    }
    return fd;
}

/* ---- FUSE, whose server may not answer ---- */

#define MOST_MOUNTS ((size_t)1 << 20) /* bytes */

/* Looks at the mounts of the process, or at ours if it is gone. */
static bool is_on_fuse(const struct mapped_sight *sight)
{
    struct text mounts = {0};
    char path[64], device[32];

    snprintf(device, sizeof(device), " %u:%u ", major(sight->device), minor(sight->device));
    snprintf(path, sizeof(path), "/proc/%u/mountinfo", sight->pid);
    if (read_file(AT_FDCWD, path, MOST_MOUNTS, &mounts))
        (void)read_file(AT_FDCWD, "/proc/self/mountinfo", MOST_MOUNTS, &mounts);
    const char *type = strstr(text_string(&mounts), device);
    type = type ? strstr(type, " - ") : NULL;
    const bool is = type && starts_with(type, " - fuse");
    text_free(&mounts);
    return is;
}

static void try_to_open(const void *context)
{
    struct stat about;
    uint32_t root;

    (void)mapped_open(context, 0, &root, &about);
}

/* ---- The table's parts ---- */

#define BUCKETS 1024
#define DEVICES 16 /* of each hash, the last one is remembered */

/* Descriptors left for maps, programs, probes and rings. */
#define LEFT_TO_OTHERS 256

struct mapped_root {
    struct mapped_root *next;
    uint64_t device, inode, namespace; /* of the directory; the inode of the mount namespace */
    size_t references;
    int fd;        /* O_PATH; below 0 for our own root */
    int mounts;    /* its mount namespace, which keeps what is mounted below; or below 0 */
    char path[32]; /* "/proc/self/fd/N" */
};

struct mapped_files {
    struct mapped_file *buckets[BUCKETS];
    struct mapped_root *roots;
    struct mapped_root own;
    size_t count, most;
    uint64_t not_kept;
    uint64_t look; /* counts the calls of mapped_files_look_again() */
    uint64_t local[DEVICES], mute[DEVICES]; /* no FUSE; and FUSE whose server did not answer */
};

/* ---- Roots ---- */

static bool look_at_root(const char *process, struct mapped_root *root)
{
    struct stat directory, namespace;
    char path[48];

    snprintf(path, sizeof(path), "/proc/%s/root", process);
    if (stat(path, &directory))
        return false;
    snprintf(path, sizeof(path), "/proc/%s/ns/mnt", process);
    bool has_namespace = !stat(path, &namespace);
    *root = (struct mapped_root){.device = directory.st_dev, .inode = directory.st_ino,
                                 .namespace = has_namespace ? namespace.st_ino : 0, .fd = -1};
    return true;
}

static bool same_root(const struct mapped_root *a, const struct mapped_root *b)
{
    return a->device == b->device && a->inode == b->inode && a->namespace == b->namespace;
}

struct mapped_root *mapped_files_root(struct mapped_files *files, uint32_t pid)
{
    struct mapped_root seen, *root;
    char process[16], path[32];

    snprintf(process, sizeof(process), "%u", pid);
    if (!look_at_root(process, &seen))
        return NULL;
    if (same_root(&seen, &files->own))
        return &files->own;
    for (root = files->roots; root && !same_root(root, &seen); root = root->next)
        ;
    if (!root) {
        snprintf(path, sizeof(path), "/proc/%u/root", pid);
        seen.fd = files->count < files->most ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
        root = seen.fd >= 0 ? malloc(sizeof(*root)) : NULL;
        if (!root) {
            close_fd(seen.fd);
            return NULL;
        }
        snprintf(path, sizeof(path), "/proc/%u/ns/mnt", pid);
        seen.mounts = open(path, O_RDONLY | O_CLOEXEC);
        snprintf(seen.path, sizeof(seen.path), "/proc/self/fd/%d", seen.fd);
        seen.next = files->roots;
        *root = seen;
        files->roots = root;
        files->count += 2;
    }
    root->references++;
    return root;
}

const char *mapped_root_path(const struct mapped_root *root)
{
    return root ? root->path : NULL;
}

void mapped_root_drop(struct mapped_files *files, struct mapped_root *root)
{
    struct mapped_root **at = &files->roots;

    if (!root || root->fd < 0 || --root->references)
        return;
    while (*at != root)
        at = &(*at)->next;
    *at = root->next;
    close(root->fd);
    close_fd(root->mounts);
    free(root);
    files->count -= 2;
}

/* ---- Opening for the table ---- */

static bool is_elf(int fd)
{
    const struct elf elf = {.fd = fd};
    char magic[SELFMAG];

    return !elf_read(&elf, 0, magic, sizeof(magic)) && !memcmp(magic, ELFMAG, sizeof(magic));
}

/* Memory that is a file only inside the kernel. */
static bool is_shared_memory(const char *path)
{
    return starts_with(path, "/memfd:") || starts_with(path, "/SYSV") ||
           starts_with(path, "/dev/zero") || starts_with(path, "/anon_hugepage");
}

/* The process and its parent are gone: tries the path in roots that other processes use. */
static void open_below_known(struct mapped_files *files, struct mapped_file *file,
                             const struct mapped_sight *sight)
{
    for (struct mapped_root *root = files->roots; root; root = root->next) {
        const int fd = open_below(root->path, BY_OTHER_ROOT, sight, file->is_served ? O_PATH : 0,
                                  &file->about);
        if (fd >= 0) {
            file->fd = fd;
            file->of_root = root;
            root->references++;
            return;
        }
    }
}

/*
 * Opening a FUSE file waits for its server, and the waiting process may not even be killed: so
 * another process opens it first. False: the server does not answer.
 */
static bool is_answered(struct mapped_files *files, struct mapped_file *file,
                        const struct mapped_sight *sight)
{
    const size_t place = sight->device % DEVICES;

    if (major(sight->device) || files->local[place] == sight->device)
        return true;
    if (files->mute[place] == sight->device)
        return false;
    file->is_served = is_on_fuse(sight);
    if (!file->is_served)
        files->local[place] = sight->device;
    else if (!sandbox_try(try_to_open, sight))
        files->mute[place] = sight->device;
    return files->mute[place] != sight->device;
}

static void open_file(struct mapped_files *files, struct mapped_file *file,
                      const struct mapped_sight *sight, bool is_new)
{
    bool in_memory = is_shared_memory(file->path);
    uint32_t root = 0;

    file->kind = in_memory ? MAPPED_ANONYMOUS : *file->path == '/' ? MAPPED_FILE : MAPPED_OTHER;
    if (file->kind == MAPPED_OTHER) /* such as "anon_inode:[perf_event]" */
        return;
    if (files->count >= files->most) {
        files->not_kept += file->fd != -EMFILE;
        file->fd = -EMFILE;
        return;
    }
    if (!is_answered(files, file, sight)) {
        file->fd = -ETIMEDOUT;
        return;
    }
    file->fd = mapped_open(sight, file->is_served ? O_PATH : 0, &root, &file->about);
    if (file->fd < 0 && file->fd != -ENODEV && !in_memory &&
        is_new) /* only once: there may be many roots */
        open_below_known(files, file, sight);
    if (file->fd >= 0 && in_memory && !is_elf(file->fd)) {
        close(file->fd);
        file->fd = -ENODEV;
    }
    if (file->fd == -ESTALE && in_memory) /* its process runs another program by now */
        file->fd = -ENOENT;
    if (file->fd < 0) {
        if (file->fd == -ENODEV && !in_memory) /* a device or the like */
            file->kind = MAPPED_OTHER;
        return;
    }
    file->kind = MAPPED_FILE;
    files->count++;
    /*
     * Was it written to after it was mapped? Both times must say so: st_mtim may be copied from
     * another file, and st_ctim changes with every link, too.
     */
    const uint64_t mapped = to_file_time(sight->time);
    file->is_changed = sight->time && mapped_file_time(&file->about.st_mtim) > mapped &&
                       mapped_file_time(&file->about.st_ctim) > mapped;
    if (!file->of_root)
        file->of_root = mapped_files_root(files, root);
    file->root = mapped_root_path(file->of_root);
}

/* ---- The table ---- */

static struct mapped_file **bucket_of(const struct mapped_files *files,
                                      const struct mapped_sight *sight, const char *path,
                                      size_t length)
{
    uint64_t hash = sight->device * 31 + sight->inode;

    for (size_t i = 0; !sight->inode && i < length; i++)
        hash = hash * 31 + (unsigned char)path[i];
    hash *= 0x9e3779b97f4a7c15;
    return (struct mapped_file **)&files->buckets[hash >> 32 & (BUCKETS - 1)];
}

static enum mapped_kind kind_without_file(const struct mapped_sight *sight, const char *path)
{
    if (starts_with(path, "[anon") || starts_with(path, "[heap") || starts_with(path, "[stack"))
        return MAPPED_ANONYMOUS;
    /* A 32-bit process has another vDSO than ours. */
    if (!strcmp(path, "[vdso]") && (sight->end > UINT32_MAX) == (sizeof(void *) == 8))
        return MAPPED_VDSO;
    return MAPPED_OTHER;
}

const char *mapped_label(const char *path)
{
    const char *name = base_name(path);

    if (starts_with(path, "/dev/zero") || starts_with(path, "/anon_hugepage"))
        return "[anon]";
    return *path == '/' && *name ? name : path;
}

/*
 * Was the file written to since? Adding or removing a link changes neither size nor st_mtim. A FUSE
 * server is not asked.
 */
static bool is_changed_now(const struct mapped_file *file)
{
    struct stat now;

    if (file->is_served)
        return false;
    return fstat(file->fd, &now) || now.st_size != file->about.st_size ||
           mapped_file_time(&now.st_mtim) != mapped_file_time(&file->about.st_mtim);
}

bool mapped_file_changed(struct mapped_file *file)
{
    if (!file->is_changed && file->fd >= 0)
        file->is_changed = is_changed_now(file);
    return file->is_changed;
}

static bool is_unchanged(const struct mapped_files *files, struct mapped_file *file)
{
    if (file->looked_at != files->look && !mapped_file_changed(file))
        file->looked_at = files->look;
    return !file->is_changed;
}

bool mapped_files_knows(const struct mapped_files *files, uint64_t device, uint64_t inode)
{
    const struct mapped_sight sight = {.device = device, .inode = inode};
    struct mapped_file *file = inode ? *bucket_of(files, &sight, "", 0) : NULL;

    while (file && !(file->device == device && file->inode == inode && file->fd >= 0 &&
                     is_unchanged(files, file)))
        file = file->next;
    return file;
}

void mapped_files_look_again(struct mapped_files *files)
{
    files->look++;
}

/* An open file keeps its inode number to itself; if it is not open, the path must be equal, too. */
static bool is_of(const struct mapped_files *files, struct mapped_file *file,
                  const struct mapped_sight *sight, const char *path, size_t length)
{
    if (file->inode != sight->inode || file->device != sight->device)
        return false;
    bool same_name = strlen(file->path) == length && !memcmp(file->path, path, length);
    if (!sight->inode)
        return same_name && file->kind == kind_without_file(sight, file->path);
    if (file->generation && sight->generation && file->generation != sight->generation)
        return false;
    return file->fd >= 0 ? is_unchanged(files, file) : same_name;
}

static struct mapped_file *add_file(struct mapped_files *files, struct mapped_file **bucket,
                                    const struct mapped_sight *sight, const char *path,
                                    size_t length)
{
    struct mapped_file *file = calloc(1, sizeof(*file));

    if (!file)
        return NULL;
    char *copy = strndup(path, length);
    if (!copy) {
        free(file);
        return NULL;
    }
    *file = (struct mapped_file){.path = copy, .label = mapped_label(copy), .device = sight->device,
                                 .inode = sight->inode, .generation = sight->generation,
                                 .fd = -ENODEV, .next = *bucket};
    *bucket = file;
    if (sight->inode)
        open_file(files, file, sight, true);
    else
        file->kind = kind_without_file(sight, copy);
    return file;
}

struct mapped_file *mapped_files_see(struct mapped_files *files, const struct mapped_sight *sight)
{
    static const char deleted[] = " (deleted)";
    const char *path = sight->path;

    /* perf and maps have different names for unnamed memory. */
    if (!sight->inode && (!*path || starts_with(path, "//anon")))
        path = "[anon]";
    size_t length = strlen(path), ending = sizeof(deleted) - 1;
    if (length > ending && !strcmp(path + length - ending, deleted))
        length -= ending;
    struct mapped_file **bucket = bucket_of(files, sight, path, length), *file = *bucket;
    while (file && !is_of(files, file, sight, path, length))
        file = file->next;
    if (!file)
        file = add_file(files, bucket, sight, path, length);
    else if (file->inode && file->fd < 0 &&
             (file->kind == MAPPED_FILE || mapped_file_is_unseen(file)))
        open_file(files, file, sight, false);
    if (file)
        file->references++;
    return file;
}

bool mapped_file_is_unseen(const struct mapped_file *file)
{
    return file->kind == MAPPED_ANONYMOUS && file->fd == -ENOENT;
}

void mapped_file_hold(struct mapped_file *file)
{
    file->references++;
}

bool mapped_file_is_last(const struct mapped_file *file)
{
    return file->references == 1;
}

void mapped_file_drop(struct mapped_files *files, struct mapped_file *file)
{
    const struct mapped_sight sight = {.device = file->device, .inode = file->inode};

    if (--file->references)
        return;
    struct mapped_file **at = bucket_of(files, &sight, file->path, strlen(file->path));
    while (*at != file)
        at = &(*at)->next;
    *at = file->next;
    if (file->fd >= 0) {
        close(file->fd);
        files->count--;
    }
    mapped_root_drop(files, file->of_root);
    free(file->segments);
    free((char *)(uintptr_t)file->path);
    free(file);
}

/* 0 also if the file has no segments or is not ELF. */
static int read_segments(struct mapped_file *file)
{
    struct elf elf;
    int trouble = 0;

    file->fd = sandbox_readable(file->fd); /* we are the reader, and keep it for who names */
    if (!elf_open_watched(&elf, file->fd, 0, &trouble)) {
        size_t size = elf.segment_count * sizeof(*elf.segments);
        file->segments = malloc(size + 1);
        if (file->segments && size)
            memcpy(file->segments, elf.segments, size);
        file->segment_count = file->segments ? elf.segment_count : 0;
        elf_close(&elf);
        if (!file->segments)
            trouble = -ENOMEM;
    }
    return trouble;
}

int mapped_file_address(struct mapped_file *file, uint64_t offset, uint64_t *address)
{
    *address = offset;
    if (!file->has_segments && file->fd >= 0 && !file->is_changed) {
        int result = read_segments(file);
        if (result == -ENOMEM)
            return result;
        file->unread = result;
        file->has_segments = true;
    }
    const struct elf kept = {.segments = file->segments, .segment_count = file->segment_count};
    (void)elf_address_of(&kept, offset, address);
    return 0;
}

void mapped_file_give_up(struct mapped_file *file, int why)
{
    file->unread = why;
    file->has_segments = true;
}

size_t mapped_files_count(const struct mapped_files *files)
{
    return files->count;
}

uint64_t mapped_files_not_kept(const struct mapped_files *files)
{
    return files->not_kept;
}

int mapped_files_open(struct mapped_files **made)
{
    struct rlimit limit = {1024, 1024};
    struct mapped_files *files = calloc(1, sizeof(*files));

    *made = files;
    if (!files)
        return -ENOMEM;
    files->look = 1;
    if (!prlimit(0, RLIMIT_NOFILE, NULL, &limit) && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        prlimit(0, RLIMIT_NOFILE, &limit, NULL);
    }
    rlim_t most = limit.rlim_cur > LEFT_TO_OTHERS ? limit.rlim_cur - LEFT_TO_OTHERS : 0;
    if (most > limit.rlim_cur / 2)
        most = limit.rlim_cur / 2;
    files->most = most < MAPPED_FILES_KEPT ? (size_t)most : MAPPED_FILES_KEPT;
    if (!look_at_root("self", &files->own))
        files->own = (struct mapped_root){.fd = -1};
    return 0;
}

/* All references must have been given back. */
void mapped_files_close(struct mapped_files *files)
{
    free(files);
}
