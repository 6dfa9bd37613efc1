/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "snooping/held.h"

#include "base/util.h"
#include "insns/layout.h"
#include "maps/snoop_record.h"

#define MOST_HELD_NS 2000000000

static bool is_waiting(const struct snoop_record *record, const struct cold *cold)
{
    const uint32_t kernel = snoop_record_frames(record->kernel_bytes);
    const uint32_t user = snoop_record_frames(record->user_bytes);

    return user && cold_is_waiting(cold, record->frames[kernel + user - 1]);
}

size_t count_not_held(const struct timeline *timeline, size_t ready, const struct cold *cold)
{
    const uint64_t now = now_ns();
    size_t size;

    for (size_t i = 0; i < ready && cold && cold_waiting(cold); i++) {
        const struct snoop_record *record = timeline_bytes(timeline, i, &size);
        if (now - record->time < MOST_HELD_NS && is_waiting(record, cold))
            return i;
    }
    return ready;
}
