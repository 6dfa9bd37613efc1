/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Finding what a JIT wrote of its code, for a process that may be gone and may see another /tmp. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/process_parts.h"

#define STATUS_LIMIT 65536

/* The numbers of a line such as "Uid:\t0\t0\t0\t0"; the last of them is the last of `numbers`, too. */
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
    }
    text_free(&status);
    return known;
}

void look_at_owner(struct processes *processes, struct life *life)
{
    struct owner seen;

    if (life->owner && life->owner->since >= life->programs->since)
        return;
    if (!read_owner(processes, life->pid, &seen))
        return;
    seen.since = now_ns();
    if (!life->owner)
        life->owner = calloc(1, sizeof(*life->owner));
    else
        mapped_root_drop(processes->files, life->owner->root);
    if (life->owner)
        *life->owner = seen;
    else
        mapped_root_drop(processes->files, seen.root);
}

/* One of the places where it may be. `owner` NULL: nobody knows any more whose it was. */
static int try_place(const char *root, uint32_t number, const struct owner *owner,
                     struct jitmap_refusal *refusal)
{
    char path[sizeof(refusal->path) + 32];
    const char *reason = "it is no plain file";
    struct stat about;

    if (!root)
        return -ENOENT;
    snprintf(path, sizeof(path), "%s/tmp/perf-%u.map", root, number);
    int fd = mapped_open_plain(path, O_NOFOLLOW, &about);
    if (fd >= 0) {
        if (!about.st_uid ||
            (owner && (about.st_uid == owner->users[0] || about.st_uid == owner->users[1])))
            return fd;
        close(fd);
        fd = -EACCES;
        reason = owner ? "it belongs to another user than the process"
                       : "whose the process was could not be seen";
    }
    if (fd != -EACCES && fd != -ENODEV)
        return fd;
    snprintf(refusal->path, sizeof(refusal->path), "/tmp/perf-%u.map", number);
    refusal->reason = reason;
    return -EACCES;
}

int processes_open_jitmap(struct processes *processes, uint32_t pid, uint64_t born,
                          struct jitmap_refusal *refusal)
{
    struct life *life = NULL;
    struct owner now = {.root = NULL};
    const struct owner *owner = NULL;
    bool is_alive = !history_find(&processes->history, pid, born, processes->begin, &life) ||
                    !life->ended;

    if (life)
        owner = life->owner;
    if (!owner && is_alive && read_owner(processes, pid, &now))
        owner = &now;
    const char *root = owner ? mapped_root_path(owner->root) : NULL;
    int result = owner ? try_place(root, owner->namespace_pid, owner, refusal) : -ENOENT;
    /* Outside it goes by the number that it has here. */
    if (result < 0 && !(root && !*root && owner->namespace_pid == pid)) {
        int other = try_place("", pid, owner, refusal);
        if (other >= 0 || result != -EACCES)
            result = other;
    }
    mapped_root_drop(processes->files, now.root);
    return result == -EACCES || result >= 0 ? result : -ENOENT;
}
