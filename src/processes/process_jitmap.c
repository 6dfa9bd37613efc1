/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Finds what a JIT wrote about its code, for a process that may be gone and may see another /tmp.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/opening.h"
#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"
#include "processes/mapped_open.h"
#include "processes/process_parts.h"

#define STATUS_LIMIT 65536

/*
 * The clock of files only advances at the ticks of one CPU; on a virtual machine, which itself is
 * paused at times, by more than a tick. The clock of process starts does not pause.
 */
#define LATE_NS 1000000000

/* Two of the numbers in a line such as "Uid:\t0\t0\t0\t0", if there are as many, and the last. */
static bool read_line(const char *status, const char *name, uint32_t *first, uint32_t *second,
                      uint32_t *last)
{
    const char *at = strstr(status, name);
    char *end;

    for (unsigned i = 0; at; i++, at = end) {
        if (!i)
            at += strlen(name);
        if (*at != '\t')
            return i > 0;
        *last = (uint32_t)strtoul(at + 1, &end, 10);
        if (i == 0)
            *first = *last;
        if (i == 1)
            *second = *last;
    }
    return false;
}

/*
 * When a process began, in ns of the clock of files: the 22nd word of its stat, in ticks since
 * boot; the second word is in parentheses and may contain anything. 0: unknown.
 */
static uint64_t read_start(uint32_t pid)
{
    struct timespec real, boot;
    struct text stat = {0};
    uint64_t ticks = 0, since = 0;
    char path[32];

    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    const char *at = read_file(AT_FDCWD, path, STATUS_LIMIT, &stat) || !stat.data
        ? NULL : strrchr(stat.data, ')');
    for (int word = 2; at && word < 22; word++)
        at = strchr(at + 1, ' ');
    if (at)
        ticks = strtoull(at + 1, NULL, 10);
    text_free(&stat);
    clock_gettime(CLOCK_REALTIME, &real);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    since = ticks * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK));
    return at ? mapped_file_time(&real) - mapped_file_time(&boot) + since : 0;
}

static bool read_owner(struct processes *processes, uint32_t pid, struct owner *owner)
{
    struct text status = {0};
    uint32_t unused;
    char path[32];

    *owner = (struct owner){.namespace_pid = pid};
    snprintf(path, sizeof(path), "/proc/%u/status", pid);
    bool known = !read_file(AT_FDCWD, path, STATUS_LIMIT, &status) && status.data &&
                 read_line(status.data, "\nUid:", &owner->users[0], &owner->users[1], &unused);
    if (known) {
        (void)read_line(status.data, "\nNSpid:", &unused, &unused, &owner->namespace_pid); /* 4.1 */
        owner->root = mapped_files_root(processes->files, pid);
        owner->start = read_start(pid);
    }
    text_free(&status);
    return known;
}

bool look_at_owner(struct processes *processes, struct life *life)
{
    struct owner seen;

    if (life->owner && life->owner->since >= life->programs->since)
        return false;
    if (!read_owner(processes, life->pid, &seen))
        return true;
    seen.since = now_ns();
    if (!life->owner)
        life->owner = calloc(1, sizeof(*life->owner));
    else
        mapped_root_drop(processes->files, life->owner->root);
    if (life->owner)
        *life->owner = seen;
    else
        mapped_root_drop(processes->files, seen.root);
    if (!life->owner)
        processes->result = -ENOMEM;
    return true;
}

/*
 * What is certain about a process that was gone before it could be looked at. Only root's maps are
 * safe.
 */
static struct owner unseen_owner(uint32_t pid, const struct life *life)
{
    struct timespec real;

    clock_gettime(CLOCK_REALTIME, &real);
    return (struct owner){
        .namespace_pid = pid,
        .start = mapped_file_time(&real) - now_ns() + life->forked,
    };
}

/* One of the places where it may be. A file written before the process began is another's. */
static int try_place(const char *root, uint32_t number, const struct owner *owner,
                     struct jitmap_refusal *refusal)
{
    char path[sizeof(refusal->path) + 32];
    const char *reason = "it is not a regular file";
    struct stat about;

    if (!root)
        return -ENOENT;
    snprintf(path, sizeof(path), "%s/tmp/perf-%u.map", root, number);
    int fd = open_regular(path, O_NOFOLLOW, &about);
    if (fd >= 0) {
        bool is_old = mapped_file_time(&about.st_mtim) + LATE_NS < owner->start;
        bool is_anybodys = about.st_mode & S_IWOTH;
        if (!is_old && !is_anybodys && (!about.st_uid || about.st_uid == owner->users[0] ||
                        about.st_uid == owner->users[1]))
            return fd;
        close(fd);
        fd = is_old ? -ENOENT : -EACCES;
        reason = is_anybodys    ? "it is writable by everybody"
                 : owner->since ? "its owner is not the process's user"
                                : "it is not root's, and whose the process was could not be seen";
    }
    if (fd != -EACCES && fd != -ENODEV)
        return fd;
    snprintf(refusal->path, sizeof(refusal->path), "/tmp/perf-%u.map", number);
    refusal->reason = reason;
    return -EACCES;
}

static int open_jitmap(struct processes *processes, uint32_t pid, uint64_t born, struct jitmap_refusal *refusal)
{
    struct life *life = NULL;
    struct owner now = {.root = NULL};
    const struct owner *owner = NULL;
    const struct program *program =
        history_find(&processes->history, pid, born, processes->begin, &life);
    bool is_alive = !program || !life->ended;

    if (history_is_in_doubt(&processes->history, pid, born, processes->begin))
        return -ENOENT;
    if (life)
        owner = life->owner;
    if (!owner && is_alive && read_owner(processes, pid, &now)) {
        now.since = now_ns();
        owner = &now;
    }
    if (!owner && program && life->forked && image_has_anonymous(program->image)) {
        now = unseen_owner(pid, life);
        owner = &now;
    }
    if (!owner)
        return -ENOENT;
    const char *root = mapped_root_path(owner->root);
    int result = try_place(root, owner->namespace_pid, owner, refusal);
    /* Outside, it is named by the pid that it has here. */
    if (result < 0 && !(root && !*root && owner->namespace_pid == pid)) {
        int other = try_place("", pid, owner, refusal);
        if (other >= 0 || result != -EACCES)
            result = other;
    }
    mapped_root_drop(processes->files, now.root);
    return result == -EACCES || result >= 0 ? result : -ENOENT;
}

int processes_open_jitmap(struct processes *processes, uint32_t pid, uint64_t born, struct jitmap_refusal *refusal)
{
    processes_hold(processes);
    int result = open_jitmap(processes, pid, born, refusal);
    processes_release(processes);
    return result;
}
