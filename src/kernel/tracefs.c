/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kernel/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pass_fd.h"
#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"
#include "kernel/own_mount.h"
#include "kernel/refusal.h"

#ifndef TRACEFS_MAGIC
#define TRACEFS_MAGIC 0x74726163 /* 4.1 */
#endif
#define FORMAT_FILE_BYTES 65536
#define ID_FILE_BYTES 32

static int open_directory(int at, const char *path)
{
    int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

int tracefs_open_mounted(void)
{
    static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    int result = -ENOENT;

    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct statfs about;
        int fd = open_directory(AT_FDCWD, places[i]);
        if (fd < 0) {
            /* A refusal says more than an absence. */
            if (result == -ENOENT)
                result = fd;
            continue;
        }
        if (!fstatfs(fd, &about) && about.f_type == TRACEFS_MAGIC)
            return fd;
        close(fd);
    }
    return result;
}

/* In a child: a mount namespace of its own, tracefs over some directory in it, and that opened. */
static int mount_in_own_namespace(void)
{
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tracefs", "/proc", "tracefs", 0, NULL))
        return -errno;
    return open_directory(AT_FDCWD, "/proc");
}

static int mount_by_child(void)
{
    int ends[2], status;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return -errno;
    pid_t child = fork();
    if (child < 0) {
        int result = -errno;
        close(ends[0]);
        close(ends[1]);
        return result;
    }
    if (!child)
        _exit(pass_fd(ends[1], mount_in_own_namespace()) != 0);
    close(ends[1]);
    int result = take_fd(ends[0]);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return result == -EPIPE ? -EPERM : result;
}

/*
 * Then nothing in it can be opened. And where the kernel was booted so, it has no files at all, and
 * kernels (6.12, 7.2) crash when such a one is unmounted.
 */
static bool is_locked(void)
{
    struct text level = {0};
    bool locked = refusal_locked_down(&level) && level.data && !strcmp(level.data, "confidentiality");

    text_free(&level);
    return locked;
}

int tracefs_open(void)
{
    if (is_locked())
        return -EPERM;
    int fd = tracefs_open_mounted();

    /* Not allowed in, or mounted nowhere: a mount of our own may still go. */
    if (fd < 0)
        fd = own_mount("tracefs");
    if (fd == -ENOSYS || fd == -EPERM || fd == -EINVAL) {
        int other = mount_by_child();
        fd = other >= 0 || fd == -ENOSYS ? other : fd;
    }
    return fd;
}

/* A file of a tracepoint: `file` names it. */
static int read_event_file(int tracefs, const char *category, const char *name, const char *file,
                           size_t limit, struct text *content)
{
    struct text path = {0};

    /* A name with a slash would leave the directory of events. */
    if (strchr(category, '/') || strchr(name, '/'))
        return -ENOENT;
    text_format(&path, "events/%s/%s/%s", category, name, file);
    int result = path.failed ? -ENOMEM : read_file(tracefs, path.data, limit, content);
    text_free(&path);
    return result || content->data ? result : -EINVAL;
}

int tracefs_event_id(int tracefs, const char *category, const char *name, uint32_t *id)
{
    struct text content = {0};
    uint64_t number = 0;
    int result = read_event_file(tracefs, category, name, "id", ID_FILE_BYTES, &content);

    if (!result) {
        content.data[strcspn(content.data, "\n")] = '\0';
        result = parse_number(content.data, 1, UINT32_MAX, &number);
    }
    *id = (uint32_t)number;
    text_free(&content);
    return result;
}

/* The number behind `key` in one line of a format file, up to the next ";". */
static int parse_key(const char *line, size_t length, const char *key, uint16_t *number)
{
    const char *at = memmem(line, length, key, strlen(key));
    char digits[8];
    uint64_t value;

    if (!at)
        return -EINVAL;
    at += strlen(key);
    size_t count = strspn(at, "0123456789");
    if (!count || count >= sizeof(digits) || at[count] != ';')
        return -EINVAL;
    memcpy(digits, at, count);
    digits[count] = '\0';
    int result = parse_number(digits, 0, UINT16_MAX, &value);
    *number = (uint16_t)value;
    return result;
}

/* "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;" */
static bool is_field(const char *line, size_t length, const char *field)
{
    const char *declared = memmem(line, length, "field:", 6);
    const char *end = declared ? memchr(declared, ';', (size_t)(line + length - declared)) : NULL;
    size_t name = strlen(field);

    if (!end || (size_t)(end - declared) < 6 + name + 1)
        return false;
    /* An array's brackets follow its name. */
    if (end[-1] == ']')
        while (end > declared && *end != '[')
            end--;
    return end - declared >= (ptrdiff_t)name + 1 && !memcmp(end - name, field, name) &&
           end[-(ptrdiff_t)name - 1] == ' ';
}

int tracefs_parse_field(const char *format, const char *field, struct tracefs_field *found)
{
    for (const char *line = format; *line;) {
        size_t length = strcspn(line, "\n");
        if (is_field(line, length, field)) {
            int result = parse_key(line, length, "offset:", &found->offset);
            return result ? result : parse_key(line, length, "size:", &found->size);
        }
        line += length + (line[length] == '\n');
    }
    return -ENOENT;
}

int tracefs_find_field(int tracefs, const char *category, const char *name, const char *field,
                       struct tracefs_field *found)
{
    struct text content = {0};
    int result = read_event_file(tracefs, category, name, "format", FORMAT_FILE_BYTES, &content);

    if (!result)
        result = tracefs_parse_field(content.data, field, found);
    text_free(&content);
    return result;
}

static bool is_entry(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && entry->d_type != DT_REG;
}

/* NULL: there is no other, or *result says why it cannot be read. */
static const struct dirent *next_entry(DIR *directory, int *result)
{
    errno = 0;
    const struct dirent *entry = readdir(directory);
    if (!entry)
        *result = -errno;
    return entry;
}

static int each_of_category(int events, const char *category, tracefs_each *each, void *context)
{
    int fd = open_directory(events, category), result = 0;
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!directory) {
        result = fd < 0 ? fd : -errno;
        if (fd >= 0)
            close(fd);
        /* Gone since it was listed, as a module's events are at its unloading. */
        return result == -ENOENT || result == -ENOTDIR ? 0 : result;
    }
    while (!result && (entry = next_entry(directory, &result)))
        if (is_entry(entry))
            result = each(context, category, entry->d_name);
    closedir(directory);
    return result;
}

int tracefs_each_event(int tracefs, tracefs_wanted *wanted, tracefs_each *each, void *context)
{
    int fd = open_directory(tracefs, "events"), result = 0;
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    if (!directory) {
        result = fd < 0 ? fd : -errno;
        if (fd >= 0)
            close(fd);
        return result;
    }
    while (!result && (entry = next_entry(directory, &result)))
        if (is_entry(entry) && (!wanted || wanted(context, entry->d_name)))
            result = each_of_category(fd, entry->d_name, each, context);
    closedir(directory);
    return result;
}
