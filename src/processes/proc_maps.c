/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "processes/proc_maps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/util.h"

/* The kernel writes a newline in a path as \012, and leaves all other bytes unchanged. */
static void decode_newlines(char *path)
{
    static const char newline[] = "\\012";
    char *to = path;

    while (*path) {
        if (!strncmp(path, newline, sizeof(newline) - 1)) {
            *to++ = '\n';
            path += sizeof(newline) - 1;
        } else {
            *to++ = *path++;
        }
    }
    *to = '\0';
}

static bool parse_word(char **at, int base, char after, uint64_t *number)
{
    char *end;

    if (**at == '-' || **at == '+' || **at == ' ')
        return false;
    *number = strtoull(*at, &end, base);
    if (end == *at || *end != after)
        return false;
    *at = end + 1;
    return true;
}

static void skip_blanks(char **at)
{
    *at += strspn(*at, " ");
}

/* "start-end perms offset major:minor inode    path"; without a file nothing follows the inode. */
static bool parse_line(char *line, struct maps_entry *entry)
{
    uint64_t high, low;

    if (!parse_word(&line, 16, '-', &entry->start) || !parse_word(&line, 16, ' ', &entry->end))
        return false;
    size_t length = strcspn(line, " ");
    entry->executable = length > 2 && line[2] == 'x';
    line += length;
    skip_blanks(&line);
    if (!parse_word(&line, 16, ' ', &entry->offset))
        return false;
    skip_blanks(&line);
    if (!parse_word(&line, 16, ':', &high) || !parse_word(&line, 16, ' ', &low))
        return false;
    skip_blanks(&line);
    if (line[strspn(line, "0123456789")]) {
        if (!parse_word(&line, 10, ' ', &entry->inode))
            return false;
        skip_blanks(&line);
    } else if (parse_word(&line, 10, '\0', &entry->inode)) {
        line--; /* there is no path */
    } else {
        return false;
    }
    entry->device = makedev((unsigned)high, (unsigned)low);
    decode_newlines(line);
    entry->path = line;
    return entry->start < entry->end;
}

static int read_lines(int fd, maps_callback *each, void *context, size_t *seen)
{
    struct maps_entry entry;
    struct lines lines;
    size_t length;
    char *line;
    int result = lines_open(&lines, fd);

    if (result)
        return result;
    for (; !result && (line = lines_next(&lines, &length)); ++*seen)
        if (parse_line(line, &entry))
            result = each(context, &entry);
    if (!result)
        result = lines.error;
    lines_close(&lines);
    return result;
}

int maps_each(int fd, maps_callback *each, void *context)
{
    size_t seen = 0;

    return read_lines(fd, each, context, &seen);
}

static int read_process(uint32_t pid, maps_callback *each, void *context, size_t *seen)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/%u/maps", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int result = read_lines(fd, each, context, seen);
    close(fd);
    return result;
}

/* /proc/PID/task has one directory per thread, besides "." and "..": its link count tells. */
bool maps_has_threads(uint32_t pid)
{
    struct stat about;
    char path[32];

    snprintf(path, sizeof(path), "/proc/%u/task", pid);
    return !stat(path, &about) && about.st_nlink > 3;
}

static DIR *open_threads(uint32_t pid)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/%u/task", pid);
    return maps_has_threads(pid) ? opendir(path) : NULL;
}

int maps_each_of(uint32_t pid, uint32_t *shown_by, maps_callback *each, void *context)
{
    struct dirent *entry;
    uint64_t thread;
    size_t seen = 0;

    *shown_by = pid;
    int result = read_process(pid, each, context, &seen);
    if (seen || result == -ENOENT)
        return result;
    DIR *threads = open_threads(pid);
    while (threads && !seen && (entry = readdir(threads))) {
        if (parse_number(entry->d_name, 1, UINT32_MAX, &thread) || thread == pid)
            continue;
        *shown_by = (uint32_t)thread;
        int of_thread = read_process(*shown_by, each, context, &seen);
        if (seen)
            result = of_thread;
    }
    if (!seen)
        *shown_by = pid;
    if (threads)
        closedir(threads);
    return result;
}

/* ---- One by one, by ioctl ---- */

/* struct procmap_query of linux/fs.h (6.11), which older headers lack. */
struct map_query {
    uint64_t size, flags, address;
    uint64_t start, end, protection, page_size, offset, inode;
    uint32_t major, minor, name_size, build_id_size;
    uint64_t name, build_id;
};
_Static_assert(sizeof(struct map_query) == 104, "as the kernel has it");

#define MAP_QUERY _IOWR('f', 17, struct map_query)
#define QUERY_EXECUTABLE 0x04 /* of the flags */
#define QUERY_OR_NEXT 0x10

/*
 * The first executable part that ends above `address`, with its path if `name` has room for it.
 * -ENOENT: there are no more.
 */
static int query(int fd, uint64_t address, char *name, size_t size, struct maps_entry *entry)
{
    struct map_query part = {
        .size = sizeof(part), .flags = QUERY_EXECUTABLE | QUERY_OR_NEXT, .address = address,
        .name = size ? (uintptr_t)name : 0, .name_size = (uint32_t)size,
    };

    if (ioctl(fd, MAP_QUERY, &part))
        return -errno;
    name[size && part.name_size ? size - 1 : 0] = '\0';
    *entry = (struct maps_entry){part.start, part.end, part.offset,
                                 makedev(part.major, part.minor), part.inode, true, name};
    return part.start < part.end && part.end > address ? 0 : -EINVAL;
}

struct executable {
    maps_callback *each;
    maps_known *known;
    void *context;
    size_t seen;
};

static int query_each(uint32_t pid, struct executable *executable)
{
    struct maps_entry entry = {.end = 0};
    char path[32], name[4096 + 64];

    snprintf(path, sizeof(path), "/proc/%u/maps", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC), result = fd < 0 ? -errno : 0;
    while (!result) {
        uint64_t from = entry.end;
        result = query(fd, from, name, 0, &entry);
        if (!result && !executable->known(executable->context, &entry))
            result = query(fd, from, name, sizeof(name), &entry);
        executable->seen += !result;
        if (!result)
            result = executable->each(executable->context, &entry);
    }
    close_fd(fd);
    return result;
}

static int take_executable(void *context, const struct maps_entry *entry)
{
    const struct executable *executable = context;

    return entry->executable ? executable->each(executable->context, entry) : 0;
}

int maps_each_executable(uint32_t pid, uint32_t *shown_by, maps_callback *each, maps_known *known,
                         void *context)
{
    struct executable executable = {.each = each, .known = known, .context = context};

    *shown_by = pid;
    int result = query_each(pid, &executable);
    /* -ESRCH: the process has no memory, ended, or runs another program by now. */
    if (executable.seen)
        return result == -ENOENT || result == -ESRCH ? 0 : result;
    /* Half of all processes are kernel threads, which have no memory. */
    if (result == -ESRCH && !maps_has_threads(pid))
        return 0;
    return maps_each_of(pid, shown_by, take_executable, &executable);
}
