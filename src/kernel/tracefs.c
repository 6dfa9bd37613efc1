/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/opening.h"
#include "base/reading.h"
#include "base/util.h"
#include "kernel/bpf.h"
#include "kernel/perf.h"
#include "kernel/refusal.h"
#include "kernel/tracefs.h"

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
            /* Another error (a refusal) says more than "not found". */
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

/* In a child: mounts tracefs over a directory in a new mount namespace, and opens the mount. */
static int mount_in_own_namespace(void)
{
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tracefs", "/proc", "tracefs", 0, NULL))
        return -errno;
    return open_directory(AT_FDCWD, "/proc");
}

static int mount_by_child(void)
{
    int ends[2];

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
    (void)UNINTERRUPTED(waitpid(child, NULL, 0));
    return result == -EPIPE ? -EPERM : result;
}

/*
 * Then nothing in tracefs can be opened. If the kernel was booted like that, tracefs has no files
 * at all, and kernels (6.12, 7.2) crash when such a tracefs is unmounted.
 */
static bool is_locked(void)
{
    struct text level = {0};
    bool locked = refusal_locked_down(&level) && level.data &&
        !strcmp(level.data, "confidentiality");

    text_free(&level);
    return locked;
}

int tracefs_open(void)
{
    if (is_locked())
        return -EPERM;
    int fd = tracefs_open_mounted();

    /* No permission, or mounted nowhere: a mount of our own may still work. */
    if (fd < 0)
        fd = own_mount("tracefs");
    if (fd == -ENOSYS || fd == -EPERM || fd == -EINVAL) {
        int other = mount_by_child();
        fd = other >= 0 || fd == -ENOSYS ? other : fd;
    }
    return fd;
}

/* A tracepoint's file of that name. */
static int read_event_file(int tracefs, const char *category, const char *name, const char *file,
                           size_t limit, struct text *content)
{
    struct text path = {0};

    /* A name with a slash would lead out of the events directory. */
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

/* The number after `key` in one line of a format file, up to the next ";". */
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
struct declaration {
    const char *type, *name; /* the type begins the line's declaration, the name ends it, */
    size_t length;           /* except for an array's brackets, which follow it */
    bool is_array;
};

static bool find_declaration(const char *line, size_t length, struct declaration *found)
{
    const char *declared = memmem(line, length, "field:", 6);
    const char *end = declared ? memchr(declared, ';', (size_t)(line + length - declared)) : NULL;

    if (!end)
        return false;
    found->type = declared + 6;
    found->is_array = end[-1] == ']';
    while (found->is_array && end > found->type && *end != '[')
        end--;
    for (found->name = end; found->name > found->type && found->name[-1] != ' ';)
        found->name--;
    found->length = (size_t)(end - found->name);
    return found->name > found->type && found->length;
}

static int parse_declared(const char *line, size_t length, const struct declaration *declared,
                          struct tracefs_field *found)
{
    const size_t type = (size_t)(declared->name - declared->type);
    uint16_t is_signed = 0;
    int result = parse_key(line, length, "offset:", &found->offset);

    if (!result)
        result = parse_key(line, length, "size:", &found->size);
    (void)parse_key(line, length, "signed:", &is_signed);
    found->is_signed = is_signed;
    found->is_address = memchr(declared->type, '*', type);
    found->is_array = declared->is_array;
    found->is_text = declared->is_array && memmem(declared->type, type, "char ", 5);
    found->is_elsewhere = memmem(declared->type, type, "_loc ", 5);
    return result;
}

int tracefs_parse_field(const char *format, const char *field, struct tracefs_field *found)
{
    struct declaration declared;
    size_t length;

    for (const char *rest = format, *line; (line = next_line(&rest, &length));)
        if (find_declaration(line, length, &declared) && declared.length == strlen(field) &&
            !memcmp(declared.name, field, declared.length))
            return parse_declared(line, length, &declared, found);
    return -ENOENT;
}

void tracefs_add_fields(const char *format, struct text *names)
{
    struct declaration declared;
    size_t length;

    for (const char *rest = format, *line; (line = next_line(&rest, &length));)
        if (find_declaration(line, length, &declared) && !starts_with(declared.name, "common_")) {
            text_add(names, " ");
            text_append(names, declared.name, declared.length);
        }
}

int tracefs_read_format(int tracefs, const char *category, const char *name, struct text *format)
{
    return read_event_file(tracefs, category, name, "format", FORMAT_FILE_BYTES, format);
}

int tracefs_find_field(int tracefs, const char *category, const char *name, const char *field,
                       struct tracefs_field *found)
{
    struct text content = {0};
    int result = tracefs_read_format(tracefs, category, name, &content);

    if (!result)
        result = tracefs_parse_field(content.data, field, found);
    text_free(&content);
    return result;
}

static bool is_entry(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && entry->d_type != DT_REG;
}

/* NULL: there are no more, or *result says why they cannot be read. */
static const struct dirent *next_entry(DIR *directory, int *result)
{
    errno = 0;
    const struct dirent *entry = readdir(directory);
    if (!entry)
        *result = -errno;
    return entry;
}

static int open_listing(int at, const char *name, DIR **directory)
{
    int fd = open_directory(at, name);

    *directory = fd < 0 ? NULL : fdopendir(fd);
    if (*directory)
        return 0;
    int error = fd < 0 ? fd : -errno;
    close_fd(fd);
    return error;
}

static int each_of_category(int events, const char *category, tracefs_each *each, void *context)
{
    const struct dirent *entry;
    DIR *directory;
    int result = open_listing(events, category, &directory);

    /* The category was removed since it was listed, as when its module is unloaded. */
    if (result)
        return result == -ENOENT || result == -ENOTDIR ? 0 : result;
    while (!result && (entry = next_entry(directory, &result)))
        if (is_entry(entry))
            result = each(context, category, entry->d_name);
    closedir(directory);
    return result;
}

int tracefs_each_event(int tracefs, tracefs_wanted *wanted, tracefs_each *each, void *context)
{
    const struct dirent *entry;
    DIR *directory;
    int result = open_listing(tracefs, "events", &directory);

    if (result)
        return result;
    while (!result && (entry = next_entry(directory, &result)))
        if (is_entry(entry) && (!wanted || wanted(context, entry->d_name)))
            result = each_of_category(dirfd(directory), entry->d_name, each, context);
    closedir(directory);
    return result;
}

#ifndef SYS_fsopen /* 5.2, the same number on every architecture but alpha */
#define SYS_fsopen 430
#define SYS_fsconfig 431
#define SYS_fsmount 432
#endif
#define FSOPEN_CLOSES_ON_EXEC 1
#define FSMOUNT_CLOSES_ON_EXEC 1
#define FSCONFIG_CREATES 6

int own_mount(const char *type)
{
    int context = (int)syscall(SYS_fsopen, type, FSOPEN_CLOSES_ON_EXEC);

    if (context < 0)
        return -errno;
    int mounted = -1;
    if (!syscall(SYS_fsconfig, context, FSCONFIG_CREATES, NULL, NULL, 0))
        mounted = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOSES_ON_EXEC, 0);
    int result = mounted < 0 ? -errno : openat(mounted, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (mounted >= 0 && result < 0)
        result = -errno;
    close_fd(mounted);
    close(context);
    return result;
}

int tracepoint_open(struct tracepoint *tracepoint, const struct tracepoint_config *config,
                    struct program *program, struct text *log)
{
    const bool is_raw = config->tracefs < 0;
    uint32_t id = 0;

    *tracepoint = (struct tracepoint)TRACEPOINT_NONE;
    int result = is_raw ? 0
        : tracefs_event_id(config->tracefs, config->category, config->name, &id);
    if (!result)
        result = tracepoint->program =
            bpf_link_and_load(is_raw ? BPF_PROG_TYPE_RAW_TRACEPOINT : BPF_PROG_TYPE_TRACEPOINT,
                              config->program_name, program, log);
    program_free(program);
    if (result < 0)
        return result;
    tracepoint->event = is_raw ? bpf_open_raw_tracepoint(tracepoint->program, config->name)
                               : perf_open_tracepoint(id);
    if (tracepoint->event < 0)
        return tracepoint->event;
    return is_raw ? 0 : perf_attach(tracepoint->event, tracepoint->program);
}

void tracepoint_close(struct tracepoint *tracepoint)
{
    close_fd(tracepoint->event);
    close_fd(tracepoint->program);
    *tracepoint = (struct tracepoint)TRACEPOINT_NONE;
}

uint64_t tracepoint_missed(const struct tracepoint *tracepoint)
{
    return misses_of_program(tracepoint->program);
}
