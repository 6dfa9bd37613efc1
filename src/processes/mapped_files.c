/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "processes/mapped_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "processes/mapped_open.h"

#define BUCKETS 1024

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
            if (seen.fd >= 0)
                close(seen.fd);
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
    if (root->mounts >= 0)
        close(root->mounts);
    free(root);
    files->count -= 2;
}

/* ---- Opening ---- */

static bool is_elf(int fd)
{
    const struct elf elf = {.fd = fd};
    char magic[SELFMAG];

    return !elf_read(&elf, 0, magic, sizeof(magic)) && !memcmp(magic, ELFMAG, sizeof(magic));
}

static bool starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

/* Memory that is a file only inside the kernel. */
static bool is_shared_memory(const char *path)
{
    return starts_with(path, "/memfd:") || starts_with(path, "/SYSV") ||
           starts_with(path, "/dev/zero") || starts_with(path, "/anon_hugepage");
}

/* Its process and that one's parent are gone: it may be found by its path in a root that others use. */
static void open_below_known(struct mapped_files *files, struct mapped_file *file,
                             const struct mapped_sight *sight)
{
    for (struct mapped_root *root = files->roots; root; root = root->next) {
        const int fd = mapped_open_below(root->path, sight, &file->about);
        if (fd >= 0) {
            file->fd = fd;
            file->of_root = root;
            root->references++;
            return;
        }
    }
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
    file->fd = mapped_open(sight, &root, &file->about);
    if (file->fd < 0 && file->fd != -ENODEV && !in_memory && is_new) /* only once: there may be many roots */
        open_below_known(files, file, sight);
    if (file->fd >= 0 && in_memory && !is_elf(file->fd)) {
        close(file->fd);
        file->fd = -ENODEV;
    }
    if (file->fd < 0) {
        if (file->fd == -ENODEV && !in_memory) /* a device or the like */
            file->kind = MAPPED_OTHER;
        return;
    }
    file->kind = MAPPED_FILE;
    files->count++;
    file->is_changed = mapped_changed_before(&file->about, sight);
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
    const char *slash = strrchr(path, '/');

    if (starts_with(path, "/dev/zero") || starts_with(path, "/anon_hugepage"))
        return "[anon]";
    return *path == '/' && slash && slash[1] ? slash + 1 : path;
}

/* Has the file been written to since? A new or removed link changes neither of these. */
static bool is_changed_now(const struct mapped_file *file)
{
    struct stat now;

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

/* While a file is open nobody else has its inode; if it is not, everything must be equal. */
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
    else if (file->inode && file->fd < 0 && file->kind == MAPPED_FILE)
        open_file(files, file, sight, false);
    if (file)
        file->references++;
    return file;
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

/* 0, even if it has none or is not an ELF file. */
static int read_segments(struct mapped_file *file)
{
    struct elf elf;
    int trouble = 0;

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
    if (!file->has_segments && file->fd >= 0) {
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
    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
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
