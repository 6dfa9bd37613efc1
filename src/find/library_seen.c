/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/library_seen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apart/apart_places.h"
#include "base/util.h"
#include "find/library_names.h"

#define MOST_OPENED 128 /* of what a process has mapped; a few have the same name */

struct looking {
    struct library_seen *seen;
    const char *const *typed;
    size_t count;
};

int library_open_mapping(uint32_t pid, uint64_t start, uint64_t end)
{
    char link[64];

    snprintf(link, sizeof(link), "/proc/%u/map_files/%llx-%llx", pid, (unsigned long long)start,
             (unsigned long long)end);
    return place_open("", link, NULL);
}

static bool may_be_meant(const struct looking *looking, const char *path)
{
    char *name = strndup(base_name(path), length_without_deleted(base_name(path)));
    bool is_meant = false;

    for (size_t i = 0; name && i < looking->count && !is_meant; i++)
        is_meant = library_name_rank(base_name(looking->typed[i]), name);
    free(name);
    return is_meant;
}

static int see_entry(void *context, const struct maps_entry *entry)
{
    const struct looking *looking = context;
    struct library_seen *seen = looking->seen;

    if (!entry->inode || *entry->path != '/' ||
        (seen->count && !strcmp(seen->items[seen->count - 1].entry.path, entry->path)) ||
        !may_be_meant(looking, entry->path))
        return 0;
    if (array_reserve(&seen->items, &seen->room, seen->count + 1, sizeof(*seen->items)))
        return -ENOMEM;
    struct library_mapped *added = &seen->items[seen->count];
    *added = (struct library_mapped){*entry, -1};
    added->entry.path = strdup(entry->path);
    if (!added->entry.path)
        return -ENOMEM;
    added->fd = seen->count < MOST_OPENED
        ? library_open_mapping(seen->shown_by, entry->start, entry->end) : -EMFILE;
    seen->count++;
    return 0;
}

int library_see(uint32_t pid, const char *const *typed, size_t count, struct library_seen *seen)
{
    struct looking looking = {seen, typed, count};

    *seen = (struct library_seen){0};
    return maps_each_of(pid, &seen->shown_by, see_entry, &looking) == -ENOMEM ? -ENOMEM : 0;
}

void library_seen_free(struct library_seen *seen)
{
    for (size_t i = 0; i < seen->count; i++) {
        free((char *)(uintptr_t)seen->items[i].entry.path);
        if (seen->items[i].fd >= 0)
            close(seen->items[i].fd);
    }
    free(seen->items);
    *seen = (struct library_seen){0};
}
