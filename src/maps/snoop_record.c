/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "maps/snoop_record.h"

#include <string.h>

uint32_t snoop_record_frames(int32_t bytes)
{
    return bytes > 0 ? (uint32_t)bytes / sizeof(uint64_t) : 0;
}

static int32_t bounded(int32_t bytes, uint32_t depth, bool wanted)
{
    uint64_t most = wanted ? depth * sizeof(uint64_t) : 0;

    if (bytes < 0)
        return bytes;
    return (int32_t)((uint64_t)bytes < most ? (uint64_t)bytes : most) & ~7;
}

size_t snoop_record_take(const void *bytes, size_t size, const struct snoop_shape *shape,
                         struct snoop_record *record)
{
    const size_t head = offsetof(struct snoop_record, frames);
    const size_t values = shape->values * sizeof(uint64_t);
    const char *frames = (const char *)bytes + head + values;
    size_t stack = shape->depth * sizeof(uint64_t);

    if (size < SNOOP_RECORD_BYTES(shape->kernel + shape->user, shape->depth) + values)
        return 0;
    memcpy(record, bytes, head);
    record->kernel_bytes = bounded(record->kernel_bytes, shape->depth, shape->kernel);
    record->user_bytes = bounded(record->user_bytes, shape->depth, shape->user);
    record->comm[sizeof(record->comm) - 1] = '\0';
    uint32_t kernel = snoop_record_frames(record->kernel_bytes);
    uint32_t user = snoop_record_frames(record->user_bytes);
    memcpy(record->frames, frames, kernel * sizeof(uint64_t));
    memcpy(record->frames + kernel, frames + (shape->kernel ? stack : 0), user * sizeof(uint64_t));
    memcpy(record->frames + kernel + user, frames - values, values);
    return head + (kernel + user) * sizeof(uint64_t) + values;
}

const uint64_t *snoop_record_values(const struct snoop_record *record)
{
    return record->frames + snoop_record_frames(record->kernel_bytes) + snoop_record_frames(record->user_bytes);
}
