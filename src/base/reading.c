/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/reading.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/util.h"

#define LINE_BUFFER_BYTES 65536
#define LEAST_BUDGET (64 << 20)
#define MOST_WITHOUT_BLOCKS (1 << 30)

/* Has it no data at all, only a size? */
static bool is_hole(int fd)
{
    const off_t at = lseek(fd, 0, SEEK_CUR), data = lseek(fd, 0, SEEK_DATA);

    if (data >= 0)
        (void)lseek(fd, at, SEEK_SET);
    return data < 0 && errno == ENXIO;
}

uint64_t reading_budget(int fd, const struct stat *about)
{
    const bool is_empty = about->st_size <= 0 || (about->st_blocks <= 0 && is_hole(fd));
    const uint64_t size = is_empty ? 0 : (uint64_t)about->st_size;
    const uint64_t held = about->st_blocks > 0 ? (uint64_t)about->st_blocks * 512
        : size < MOST_WITHOUT_BLOCKS           ? size /* the file system does not say */
                                               : MOST_WITHOUT_BLOCKS;

    /* The file system may compress, and symbols are read twice. */
    return LEAST_BUDGET + 8 * (held < UINT64_MAX / 16 ? held : UINT64_MAX / 16);
}

ssize_t read_some(int fd, void *to, size_t size)
{
    const ssize_t got = UNINTERRUPTED(read(fd, to, size));

    return got < 0 ? -errno : got;
}

int lines_open(struct lines *lines, int fd)
{
    *lines = (struct lines){.fd = fd, .buffer = malloc(LINE_BUFFER_BYTES + 1)};
    return lines->buffer ? 0 : -ENOMEM;
}

/* Reads more behind the unread bytes. False: there is nothing more. */
static bool lines_fill(struct lines *lines)
{
    if (lines->start) {
        memmove(lines->buffer, lines->buffer + lines->start, lines->end - lines->start);
        lines->end -= lines->start;
        lines->start = 0;
    }
    if (lines->ended)
        return false;
    const ssize_t got = read_some(lines->fd, lines->buffer + lines->end,
                                  LINE_BUFFER_BYTES - lines->end);
    lines->error = got < 0 ? (int)got : 0;
    lines->ended = got <= 0;
    lines->end += got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* Drops the rest of a line that did not fit, including its newline. */
static void lines_skip_rest(struct lines *lines)
{
    lines->skipping = false;
    do {
        char *newline = memchr(lines->buffer + lines->start, '\n', lines->end - lines->start);
        if (newline) {
            lines->start = (size_t)(newline + 1 - lines->buffer);
            return;
        }
        lines->start = lines->end;
    } while (lines_fill(lines));
}

char *lines_next(struct lines *lines, size_t *length)
{
    size_t searched = 0;

    if (lines->skipping)
        lines_skip_rest(lines);
    for (;;) {
        char *line = lines->buffer + lines->start;
        char *newline = memchr(line + searched, '\n', lines->end - lines->start - searched);
        if (newline) {
            *newline = '\0';
            *length = (size_t)(newline - line);
            lines->start += *length + 1;
            return line;
        }
        searched = lines->end - lines->start;
        if (searched == LINE_BUFFER_BYTES) {
            line[searched] = '\0';
            *length = searched;
            lines->start = lines->end;
            lines->skipping = true;
            lines->cut++;
            return line;
        }
        if (lines_fill(lines))
            continue;
        if (!searched)
            return NULL;
        line = lines->buffer + lines->start;
        line[searched] = '\0';
        *length = searched;
        lines->start = lines->end;
        return line;
    }
}

void lines_close(struct lines *lines)
{
    free(lines->buffer);
    lines->buffer = NULL;
}

int read_to_end(int fd, size_t limit, struct text *text)
{
    char piece[4096];

    for (;;) {
        const ssize_t got = read_some(fd, piece, sizeof(piece));
        if (got < 0)
            return (int)got;
        if (!got)
            return text->failed ? -ENOMEM : 0;
        if (text->length + (size_t)got > limit)
            return -EFBIG;
        text_append(text, piece, (size_t)got);
    }
}

bool each_line(int directory, const char *path, take_line *take, void *context)
{
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
    struct lines lines;
    bool taken = false;
    size_t length;
    char *line;

    if (fd < 0)
        return false;
    if (!lines_open(&lines, fd)) {
        while (!taken && (line = lines_next(&lines, &length)))
            taken = take(context, line);
        lines_close(&lines);
    }
    close(fd);
    return taken;
}

#define STAT_LIMIT 65536

const char *read_stat_words(uint32_t pid, struct text *stat)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    return read_file(AT_FDCWD, path, STAT_LIMIT, stat) ? NULL : strrchr(text_string(stat), ')');
}

int each_number(const char *path, take_pid *take, void *context)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    uint64_t number;
    int result = 0;

    if (!directory)
        return -errno;
    while (!result && (errno = 0, entry = readdir(directory)))
        if (!parse_number(entry->d_name, 1, UINT32_MAX, &number))
            result = take(context, (uint32_t)number);
    result = result ? result : -errno;
    closedir(directory);
    return result;
}

int read_file(int directory, const char *path, size_t limit, struct text *text)
{
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    int result = read_to_end(fd, limit, text);
    close(fd);
    return result;
}

int read_status(int directory, const char *path, const char *line, uint32_t *number)
{
    struct text content = {0};
    int result = read_file(directory, path, LINE_BUFFER_BYTES, &content);
    const char *at = result || !content.data ? NULL : strstr(content.data, line);

    if (at)
        *number = (uint32_t)strtoul(at + strlen(line), NULL, 10);
    text_free(&content);
    return result ? result : at ? 0 : -EINVAL;
}

size_t read_memory(uint32_t tid, uint64_t address, void *to, size_t size)
{
    const struct iovec local = {to, size}, remote = {(void *)(uintptr_t)address, size};
    ssize_t got = process_vm_readv((pid_t)tid, &local, 1, &remote, 1, 0);
    char path[32];

    if (got >= 0 || errno == EFAULT)
        return got < 0 ? 0 : (size_t)got;
    /* A kernel without process_vm_readv(2), or a filter that forbids it. */
    snprintf(path, sizeof(path), "/proc/%u/mem", tid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    got = fd < 0 ? 0 : pread(fd, to, size, (off_t)address);
    close_fd(fd);
    return got < 0 ? 0 : (size_t)got;
}
