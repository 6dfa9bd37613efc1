/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbols/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/elf.h"

struct mapping {
    uint64_t start, end, offset;
    const char *path; /* within the line; "" for memory of no file */
};

/* The kernel writes a newline within a path as \012, and leaves all other bytes as they are. */
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

static bool parse_hex(char **at, char after, uint64_t *number)
{
    char *end;

    if (**at == '-' || **at == '+' || **at == ' ')
        return false;
    *number = strtoull(*at, &end, 16);
    if (end == *at || *end != after)
        return false;
    *at = end + 1;
    return true;
}

/* "start-end perms offset major:minor inode    path" */
static bool parse_mapping(char *line, struct mapping *mapping)
{
    if (!parse_hex(&line, '-', &mapping->start) || !parse_hex(&line, ' ', &mapping->end))
        return false;
    line += strcspn(line, " ");
    line += strspn(line, " ");
    if (!parse_hex(&line, ' ', &mapping->offset))
        return false;
    for (int skipped = 0; skipped < 2; skipped++) { /* the device, the inode */
        line += strcspn(line, " ");
        line += strspn(line, " ");
    }
    decode_newlines(line);
    mapping->path = line;
    return mapping->start < mapping->end;
}

/* What opening does to a device is not known: only plain files are opened. */
static int open_plain(const char *path)
{
    struct stat about;

    if (stat(path, &about) || !S_ISREG(about.st_mode))
        return -1;
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/*
 * The file as the process sees it: by the mapping itself, which also holds when it was deleted,
 * else by its path. A descriptor, -1 where it cannot be opened, or -ENOMEM.
 */
static int open_mapped(uint32_t pid, const struct mapping *mapping)
{
    struct text path = {0};

    text_format(&path, "/proc/%u/map_files/%llx-%llx", pid, (unsigned long long)mapping->start,
                (unsigned long long)mapping->end);
    int fd = path.failed ? -ENOMEM : open_plain(path.data);
    if (fd == -1) {
        text_clear(&path);
        text_format(&path, "/proc/%u/root%s", pid, mapping->path);
        fd = path.failed ? -ENOMEM : open_plain(path.data);
    }
    text_free(&path);
    return fd;
}

/* "/usr/lib/libc.so.6 (deleted)" -> "libc.so.6" */
static void add_base_name(struct text *name, const char *path)
{
    static const char deleted[] = " (deleted)";
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length = strlen(base), ending = sizeof(deleted) - 1;

    if (length > ending && !strcmp(base + length - ending, deleted))
        length -= ending;
    text_append(name, base, length);
}

/* Fills in the places within one mapping. */
static int find_in(uint32_t pid, const struct mapping *mapping, const uint64_t *addresses,
                   size_t count, struct process_spot *places)
{
    struct elf elf = {0};
    bool of_file = mapping->path[0] == '/';
    int fd = of_file ? open_mapped(pid, mapping) : -1;
    int opened = fd >= 0 ? elf_open(&elf, fd) : fd;
    int result = opened == -ENOMEM ? opened : 0;

    for (size_t i = 0; i < count && !result; i++) {
        uint64_t offset = addresses[i] - mapping->start + (of_file ? mapping->offset : 0);
        places[i].address = offset;
        if (!opened)
            (void)elf_address_of(&elf, offset, &places[i].address);
        if (of_file)
            add_base_name(&places[i].file, mapping->path);
        else
            text_add(&places[i].file, *mapping->path ? mapping->path : "[anon]");
        result = places[i].file.failed ? -ENOMEM : 0;
    }
    if (!opened)
        elf_close(&elf);
    if (fd >= 0)
        close(fd);
    return result;
}

/* Both the mappings and the addresses are sorted: one walk along both. */
static int walk_mappings(uint32_t pid, struct lines *lines, const uint64_t *addresses, size_t count,
                         struct process_spot *places)
{
    struct mapping mapping;
    size_t next = 0, length;
    int result = 0;
    char *line;

    while (next < count && !result && (line = lines_next(lines, &length))) {
        size_t end;
        if (!parse_mapping(line, &mapping))
            continue;
        while (next < count && addresses[next] < mapping.start)
            next++;
        for (end = next; end < count && addresses[end] < mapping.end; end++)
            ;
        if (end > next)
            result = find_in(pid, &mapping, addresses + next, end - next, places + next);
        next = end;
    }
    return result ? result : lines->error;
}

int process_find_in(int maps, uint32_t pid, const uint64_t *addresses, size_t count,
                    struct process_spot *places)
{
    struct lines lines;
    int result = lines_open(&lines, maps);

    if (result)
        return result;
    result = walk_mappings(pid, &lines, addresses, count, places);
    lines_close(&lines);
    return result;
}

static int open_maps(uint32_t pid)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/%u/maps", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static bool shows_memory(uint32_t pid)
{
    char byte;
    int fd = open_maps(pid);
    bool shown = fd >= 0 && read(fd, &byte, 1) == 1;

    if (fd >= 0)
        close(fd);
    return shown;
}

/*
 * Where the first thread of a process has ended and others go on, /proc/PID shows no memory. The
 * same memory is shown by /proc/TID of another thread; the process itself if none shows any.
 */
static uint32_t thread_with_memory(uint32_t pid)
{
    char path[32];
    uint32_t found = pid;
    struct dirent *entry;
    uint64_t thread;

    if (shows_memory(pid))
        return pid;
    snprintf(path, sizeof(path), "/proc/%u/task", pid);
    DIR *threads = opendir(path);
    while (threads && found == pid && (entry = readdir(threads)))
        if (!parse_number(entry->d_name, 1, UINT32_MAX, &thread) && shows_memory((uint32_t)thread))
            found = (uint32_t)thread;
    if (threads)
        closedir(threads);
    return found;
}

int process_find(uint32_t pid, const uint64_t *addresses, size_t count,
                 struct process_spot *places)
{
    uint32_t shown_by = thread_with_memory(pid);
    int fd = open_maps(shown_by);

    if (fd < 0)
        return fd;
    int result = process_find_in(fd, shown_by, addresses, count, places);
    close(fd);
    return result;
}
