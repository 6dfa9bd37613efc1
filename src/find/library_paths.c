/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/library.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "base/opening.h"

/* ---- Paths below a root ---- */

/* The kernel's path of the open file; if that leads elsewhere (a link in /proc), the given one. */
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
    int fd = way == ROOT_FILE ? policy_open(root, path, resolved)
                              : open_directory(root, path, resolved);
    int result = fd >= 0 && !*root ? name_ours(fd, path, resolved) : 0;
    if (!result)
        return fd;
    close(fd);
    return result;
}

int root_take(enum root_way way, const char *root, const char *path, struct text *resolved)
{
    return sandbox_is_here() ? sandbox_ask((unsigned char)way, root, path, resolved)
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

/* ---- The cache of the dynamic linker ---- */

/*
 * The formats of glibc's elf/cache.c (sysdeps/generic/dl-cache.h). Words are 32 bits.
 *   old: "ld.so-1.7.0", at 12 the number of entries, at 16 the entries: flags, name, path; name and
 *        path count from the end of the entries
 *   new: "glibc-ld.so.cache1.1", at 20 the number of entries, at 24 the length of the strings, at
 *        28 the byte order (0 unsaid, 2 little, 3 big), at 48 the entries: flags, name, path,
 *        kernel version, 64 bits of processor features; name and path count from the magic. Behind
 *        an old one it begins at a multiple of 8.
 */
static const char old_magic[] = "ld.so-1.7.0", new_magic[] = "glibc-ld.so.cache1.1";
#define OLD_HEADER 16
#define OLD_ENTRY 12
#define NEW_HEADER 48
#define NEW_ENTRY 24

struct table {
    const char *bytes; /* offsets of strings count from here... */
    size_t length;
    size_t entries, count, entry_size;
    size_t strings;    /* ...and this */
    bool swapped;
};

static uint32_t word_at(const char *bytes, bool swapped)
{
    uint32_t word;

    memcpy(&word, bytes, sizeof(word));
    return swapped ? __builtin_bswap32(word) : word;
}

/* Does a table with that many entries fit, in this byte order? */
static bool count_entries(struct table *table, const char *number, size_t header, bool swapped)
{
    table->swapped = swapped;
    table->count = word_at(number, swapped);
    table->entries = header;
    return table->count <= (table->length - header) / table->entry_size;
}

static bool read_old(struct table *table)
{
    table->entry_size = OLD_ENTRY;
    if (table->length < OLD_HEADER || memcmp(table->bytes, old_magic, sizeof(old_magic) - 1))
        return false;
    const char *number = table->bytes + 12;
    if (!count_entries(table, number, OLD_HEADER, false) &&
        !count_entries(table, number, OLD_HEADER, true))
        return false;
    table->strings = OLD_HEADER + table->count * OLD_ENTRY;
    return true;
}

static bool read_new(struct table *table)
{
    static const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

    table->entry_size = NEW_ENTRY;
    if (table->length < NEW_HEADER || memcmp(table->bytes, new_magic, sizeof(new_magic) - 1))
        return false;
    const char *number = table->bytes + 20;
    table->strings = 0;
    switch (table->bytes[28] & 3) {
    case 2:
        return count_entries(table, number, NEW_HEADER, host_is_big);
    case 3:
        return count_entries(table, number, NEW_HEADER, !host_is_big);
    }
    return count_entries(table, number, NEW_HEADER, false) ||
           count_entries(table, number, NEW_HEADER, true);
}

/* A string that ends within the file, and is no longer than a path; or NULL. */
static const char *string_at(const struct table *table, uint32_t offset)
{
    size_t room = table->length - table->strings;

    if (offset >= room)
        return NULL;
    const char *string = table->bytes + table->strings + offset;
    room -= offset;
    return memchr(string, '\0', room < PATH_MAX ? room : PATH_MAX) ? string : NULL;
}

int link_cache_each(const char *bytes, size_t length, link_cache_callback *each, void *context)
{
    struct table table = {.bytes = bytes, .length = length}, behind;
    int result = 0;

    if (read_old(&table)) {
        size_t end = (table.strings + 7) & ~(size_t)7;
        behind = (struct table){.bytes = bytes + end, .length = length - end};
        if (end < length && read_new(&behind))
            table = behind;
    } else if (!read_new(&table)) {
        return -ENOEXEC;
    }
    for (size_t i = 0; i < table.count && !result; i++) {
        const char *at = table.bytes + table.entries + i * table.entry_size;
        struct link_cache_entry entry = {
            .name = string_at(&table, word_at(at + 4, table.swapped)),
            .path = string_at(&table, word_at(at + 8, table.swapped)),
            .special = table.entry_size == NEW_ENTRY &&
                       (word_at(at + 16, false) || word_at(at + 20, false)),
        };
        if (entry.name && entry.path)
            result = each(context, &entry);
    }
    return result;
}
