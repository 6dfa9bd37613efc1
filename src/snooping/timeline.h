/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Items with a time that come roughly in order, kept until nothing earlier can come, and given out
 * by time; with equal times, in the order of adding. {0} is empty.
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
    struct timeline_entry *entries; /* those from `given` on are waiting */
    size_t count, given, room;
    bool is_sorted;
    char *bytes;
    size_t used, bytes_room;
    uint64_t last; /* the time of the last one given out */
    uint64_t late; /* how many were added whose time was before that */
};

/* Copies the bytes in. 0 or -ENOMEM. */
int timeline_add(struct timeline *timeline, uint64_t time, const void *bytes, size_t size);

/*
 * Sorts those that wait, and returns how many have a time of at most `until`; they are
 * entries[given] and on.
 */
size_t timeline_ready(struct timeline *timeline, uint64_t until);

/* The bytes of the index-th that waits, aligned to 8; valid until the next add. */
const void *timeline_bytes(const struct timeline *timeline, size_t index, size_t *size);

/* The first `count` that wait are done with. */
void timeline_give(struct timeline *timeline, size_t count);

static inline size_t timeline_waiting(const struct timeline *timeline)
{
    return timeline->count - timeline->given;
}

void timeline_free(struct timeline *timeline);

#endif
