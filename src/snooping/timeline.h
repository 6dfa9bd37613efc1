/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Things with a time that come in about the right order, kept until nothing earlier can come any more,
 * and given out by time; of equal times what was added first comes first. {0} is empty.
 */
#ifndef STACKBOX_SNOOPING_TIMELINE_H
#define STACKBOX_SNOOPING_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timeline_entry {
    uint64_t time;
    size_t at, size; /* where its bytes are */
};

struct timeline {
    struct timeline_entry *entries; /* from `given` on they wait */
    size_t count, given, room;
    bool is_sorted;
    char *bytes;
    size_t used, bytes_room;
    uint64_t last; /* the time of what was given last */
    uint64_t late; /* how many were added whose time was before that */
};

/* Copies the bytes in. 0 or -ENOMEM. */
int timeline_add(struct timeline *timeline, uint64_t time, const void *bytes, size_t size);

/*
 * Sorts what waits, and says how many have a time of at most `until`; they are entries[given] and on.
 */
size_t timeline_ready(struct timeline *timeline, uint64_t until);

/* The bytes of the index-th that waits, aligned to 8; good until the next add. */
const void *timeline_bytes(const struct timeline *timeline, size_t index, size_t *size);

/* The first `count` that wait have been dealt with. */
void timeline_give(struct timeline *timeline, size_t count);

static inline size_t timeline_waiting(const struct timeline *timeline)
{
    return timeline->count - timeline->given;
}

void timeline_free(struct timeline *timeline);

#endif
