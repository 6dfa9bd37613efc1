/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/reading.h"
#include "base/text.h"
#include "base/util.h"
#include "store/blocked_threads.h"

#define KERNEL_THREAD 0x00200000 /* PF_KTHREAD */
#define MOST_BYTES 65536

struct listing {
    const struct blocked_filter *filter;
    blocked_threads_each *each;
    void *context;
    struct stat cgroup;
    char mount[4096]; /* where the cgroup's hierarchy is mounted; "": no cgroup was asked for */
    struct text content;
    int trouble; /* the first error for which something was passed over; or 0 */
};

/* Notes what we lack or cannot read, but not that a thread has ended or denies us access. */
static void note_trouble(struct listing *listing, int error)
{
    bool is_ours = error == ENOMEM || error == EMFILE || error == ENFILE || error == EIO;

    if (is_ours && !listing->trouble)
        listing->trouble = -error;
}

/* A file of a thread's directory becomes the content. */
static bool read_of(struct listing *listing, int thread, const char *name)
{
    text_clear(&listing->content);
    int result = read_file(thread, name, MOST_BYTES, &listing->content);
    note_trouble(listing, -result);
    return !result && listing->content.data;
}

/* ---- What is asked for ---- */

/* The root of the cgroup's hierarchy: up from its directory within the same file system. */
static int find_mount(struct listing *listing)
{
    const char *path = listing->filter->cgroup;
    struct stat above;

    if (!path)
        return 0;
    if (stat(path, &listing->cgroup) || !realpath(path, listing->mount))
        return -errno;
    for (;;) {
        char *slash = strrchr(listing->mount, '/');
        if (!slash || slash == listing->mount)
            return 0;
        *slash = '\0';
        if (stat(listing->mount, &above) || above.st_dev != listing->cgroup.st_dev) {
            *slash = '/';
            return 0;
        }
    }
}

/* Is it in the cgroup, or in one below? /proc tells: "0::/a/b". */
static bool is_in_cgroup(struct listing *listing, int thread)
{
    size_t least = strlen(listing->mount);
    struct text path = {0};
    bool found = false;

    if (!listing->filter->cgroup)
        return true;
    if (!read_of(listing, thread, "cgroup"))
        return false;
    char *line = strstr(listing->content.data, "0::/");
    if (!line || (line != listing->content.data && line[-1] != '\n'))
        return false;
    line[strcspn(line, "\n")] = '\0';
    text_format(&path, "%s%s", listing->mount, line + 3);
    for (size_t length = path.length; !path.failed && !found && length >= least; length--) {
        struct stat about;
        if (path.data[length] != '/' && path.data[length])
            continue;
        path.data[length] = '\0';
        found = !stat(path.data, &about) && about.st_ino == listing->cgroup.st_ino &&
                about.st_dev == listing->cgroup.st_dev;
    }
    text_free(&path);
    return found;
}

/* ---- /proc/TID/stat ---- */

/* False: it has ended, or it is not asked for. */
static bool read_stat(struct listing *listing, int thread, struct blocked_thread *about)
{
    const struct blocked_filter *filter = listing->filter;
    struct text *content = &listing->content;

    if (!read_of(listing, thread, "stat"))
        return false;
    const char *name = strchr(content->data, '('), *words = strrchr(content->data, ')');
    if (!name || !line_word(words, STAT_CPU))
        return false;
    snprintf(about->comm, sizeof(about->comm), "%.*s", (int)(words - name - 1), name + 1);
    about->state = *line_word(words, STAT_STATE);
    return about->state && strchr(filter->states, about->state) &&
           (filter->of->cpu < 0 ||
            line_number(words, STAT_CPU) == (uint64_t)filter->of->cpu) &&
           line_number(words, STAT_START) * tick_ns() <= filter->started_before &&
           (line_number(words, STAT_FLAGS) & KERNEL_THREAD ? filter->kernel : filter->user);
}

static bool has_user(const struct blocked_filter *filter, int thread)
{
    uint32_t uid;

    return !filter->of->uid_count ||
           (!read_status(thread, "status", STATUS_UID, &uid) &&
            filter_takes_user(filter->of, uid));
}

/* ---- Threads ---- */

static int take_thread(struct listing *listing, int thread, uint64_t pid, uint64_t tid)
{
    struct blocked_thread about = {.pid = (uint32_t)pid, .tid = (uint32_t)tid};

    if (!read_stat(listing, thread, &about) ||
        !filter_takes_name(listing->filter->of, about.comm) ||
        !has_user(listing->filter, thread) || !is_in_cgroup(listing, thread))
        return 0;
    if (read_of(listing, thread, "stack"))
        about.stack = listing->content.data;
    return listing->each(listing->context, &about);
}

/*
 * The next entry of a directory that is one of these numbers, opened; below 0: there are no more.
 */
static int next_number(struct listing *listing, DIR *directory, const uint32_t *numbers,
                       size_t count, uint64_t *number)
{
    struct dirent *entry;

    while (errno = 0, (entry = readdir(directory))) {
        if (parse_number(entry->d_name, 1, UINT32_MAX, number) ||
            (count && !has_number(numbers, count, *number)))
            continue;
        int opened = openat(dirfd(directory), entry->d_name,
                            O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (opened >= 0)
            return opened;
        note_trouble(listing, errno);
    }
    note_trouble(listing, errno);
    return -1;
}

static int take_process(struct listing *listing, int process, uint64_t pid)
{
    const struct blocked_filter *filter = listing->filter;
    int thread, result = 0, tasks = openat(process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = tasks < 0 ? NULL : fdopendir(tasks);
    uint64_t tid;

    if (!directory) {
        note_trouble(listing, errno);
        close_fd(tasks);
    }
    while (directory && !result &&
           (thread = next_number(listing, directory, filter->of->tids, filter->of->tid_count,
                                 &tid)) >= 0) {
        result = take_thread(listing, thread, pid, tid);
        close(thread);
    }
    if (directory)
        closedir(directory);
    return result;
}

int blocked_threads_list(const struct blocked_filter *filter, blocked_threads_each *each,
                         void *context)
{
    struct listing listing = {.filter = filter, .each = each, .context = context};
    int process, result = find_mount(&listing);
    uint64_t pid;
    DIR *directory = opendir("/proc");

    if (!directory && !result && errno != ENOENT) /* a missing /proc is like an empty one */
        result = -errno;
    while (directory && !result &&
           (process = next_number(&listing, directory, filter->of->pids, filter->of->pid_count,
                                  &pid)) >= 0) {
        result = take_process(&listing, process, pid);
        close(process);
    }
    if (directory)
        closedir(directory);
    text_free(&listing.content);
    return result ? result : listing.trouble;
}
