/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "find/library_search.h"

static int offer_mapped(void *context, const struct maps_entry *entry)
{
    struct library_search *search = context;
    const char *path = entry->path;
    size_t count = search->candidates.count;

    if (!entry->inode || *path != '/' ||
        (count && !strcmp(search->candidates.items[count - 1].path, path)))
        return 0;
    char *name = strndup(base_name(path), length_without_deleted(base_name(path)));
    if (!name)
        return -ENOMEM;
    const struct library_candidate mapped = {path, 0, 0, entry->start, entry->end, entry->inode};
    int result = library_offer(&search->candidates, name, &mapped);
    free(name);
    return result;
}

/* A descriptor of what is mapped, which the caller closes, or a negative errno. */
static int take_link(struct library_search *search, const struct library_candidate *mapped, uint32_t pid)
{
    const struct library_seen *seen = search->where->seen;

    for (size_t i = 0; seen && i < seen->count; i++)
        if (seen->items[i].entry.start == mapped->start) {
            int fd = seen->items[i].fd;
            search->library->mapping = i + 1;
            fd = fd < 0 ? fd : fcntl(fd, F_DUPFD_CLOEXEC, 0);
            return fd == -1 ? -errno : fd;
        }
    return seen ? -ENOENT : library_open_mapping(pid, mapped->start, mapped->end);
}

/*
 * A file that was deleted, or whose name we cannot see, can be opened through its mapping's
 * addresses, but only by root.
 */
static int take_mapping(struct library_search *search, const struct library_candidate *mapped,
                        uint32_t pid)
{
    struct text path = {0};
    size_t length = length_without_deleted(mapped->path);

    text_append(&path, mapped->path, length);
    text_clear(&search->library->file);
    text_format(&search->library->file, "/proc/%u/map_files/%llx-%llx", pid,
                (unsigned long long)mapped->start, (unsigned long long)mapped->end);
    int fd = search->library->file.failed || path.failed ? -ENOMEM
                                                         : take_link(search, mapped, pid);
    if (fd < 0) {
        if (fd != -ENOMEM)
            text_format(search->error, "process %u runs a %s that %s: %s", search->where->pid,
                        path.data, mapped->path[length] ? "was deleted, and cannot be opened"
                        : "cannot be opened", strerror(-fd));
        text_free(&path);
        return fd;
    }
    text_free(&search->library->path);
    search->library->path = path;
    search->library->fd = fd;
    return 1;
}

/* In a chroot the kernel shows the path from our root, if both are in the same mount namespace. */
static int take_ours(struct library_search *search, const struct library_candidate *mapped)
{
    struct stat file;
    int result = library_take_file(search, "", mapped->path);

    if (result > 0 && (fstat(search->library->fd, &file) || file.st_ino != mapped->inode)) {
        close(search->library->fd);
        result = -ENOENT;
    }
    return result;
}

static int take_mapped(struct library_search *search, const struct library_candidate *mapped, uint32_t pid)
{
    int result = 0;

    if (!mapped->path[length_without_deleted(mapped->path)]) {
        result = library_take_file(search, search->where->root, mapped->path);
        if (result < 0 && *search->where->root)
            result = take_ours(search, mapped);
    }
    return result > 0 ? result : take_mapping(search, mapped, pid);
}

int library_find_mapped(struct library_search *search)
{
    bool by_path = strchr(search->typed, '/');
    uint32_t shown_by = 0;
    int result = 0;

    if (!search->where->pid)
        return 0;
    search->candidates.typed = base_name(search->typed);
    if (search->where->seen) {
        const struct library_seen *seen = search->where->seen;
        shown_by = seen->shown_by;
        for (size_t i = 0; i < seen->count && !result; i++)
            result = offer_mapped(search, &seen->items[i].entry);
        if (result)
            return result;
    } else {
        (void)maps_each_of(search->where->pid, &shown_by, offer_mapped, search);
    }
    library_sort(&search->candidates);
    for (size_t i = 0; i < search->candidates.count && !result; i++) {
        const struct library_candidate *mapped = &search->candidates.items[i];
        size_t length = length_without_deleted(mapped->path);
        if (!by_path || (mapped->path[length] && strlen(search->typed) == length &&
                         !memcmp(search->typed, mapped->path, length)))
            result = take_mapped(search, mapped, shown_by);
    }
    library_forget(&search->candidates);
    return result;
}
