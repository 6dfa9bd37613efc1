/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "snooping/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

int timeline_add(struct timeline *timeline, uint64_t time, const void *bytes, size_t size)
{
    size_t whole = (size + 7) & ~(size_t)7;

    if (array_reserve(&timeline->entries, &timeline->room, timeline->count + 1,
                      sizeof(*timeline->entries)) ||
        array_reserve(&timeline->bytes, &timeline->bytes_room, timeline->used + whole, 1))
        return -ENOMEM;
    if (size)
        memcpy(timeline->bytes + timeline->used, bytes, size);
    timeline->entries[timeline->count++] =
        (struct timeline_entry){.time = time, .at = timeline->used, .size = size};
    timeline->used += whole;
    timeline->is_sorted = false;
    timeline->late += time < timeline->last;
    return 0;
}

/* What was added first comes first in `bytes`. */
static int compare_entries(const void *left, const void *right)
{
    const struct timeline_entry *a = left, *b = right;

    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

size_t timeline_ready(struct timeline *timeline, uint64_t until)
{
    struct timeline_entry *waiting = timeline->entries + timeline->given;
    size_t count = timeline_waiting(timeline), ready = 0;

    if (!count)
        return 0;
    if (!timeline->is_sorted)
        qsort(waiting, count, sizeof(*waiting), compare_entries);
    timeline->is_sorted = true;
    while (ready < count && waiting[ready].time <= until)
        ready++;
    return ready;
}

const void *timeline_bytes(const struct timeline *timeline, size_t index, size_t *size)
{
    const struct timeline_entry *entry = &timeline->entries[timeline->given + index];

    *size = entry->size;
    return timeline->bytes + entry->at;
}

/* Moves what waits to the front, in order, so that its memory is reused. */
static void compact(struct timeline *timeline)
{
    size_t count = timeline_waiting(timeline), used = 0;
    char *bytes = timeline->used ? malloc(timeline->used) : NULL;

    if (!bytes)
        return; /* not fatal */
    for (size_t i = 0; i < count; i++) {
        struct timeline_entry entry = timeline->entries[timeline->given + i];
        memcpy(bytes + used, timeline->bytes + entry.at, entry.size);
        entry.at = used;
        used += (entry.size + 7) & ~(size_t)7;
        timeline->entries[i] = entry;
    }
    free(timeline->bytes);
    timeline->bytes = bytes;
    timeline->bytes_room = timeline->used;
    timeline->count = count;
    timeline->given = 0;
    timeline->used = used;
}

void timeline_give(struct timeline *timeline, size_t count)
{
    if (!count)
        return;
    timeline->last = timeline->entries[timeline->given + count - 1].time;
    timeline->given += count;
    if (timeline->given == timeline->count)
        timeline->given = timeline->count = timeline->used = 0;
    else if (timeline->given > timeline->count / 2)
        compact(timeline);
}

void timeline_free(struct timeline *timeline)
{
    free(timeline->entries);
    free(timeline->bytes);
    *timeline = (struct timeline){0};
}
