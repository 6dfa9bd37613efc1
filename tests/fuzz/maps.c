/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * /proc/PID/maps: an entry is a range with its line's path, and a callback's result ends reading.
 */
#include "processes/proc_maps.h"

#include <string.h>

#include "fuzz.h"

struct seen {
    size_t entries, stop_at, bytes;
};

static int look_at(void *context, const struct maps_entry *entry)
{
    struct seen *seen = context;

    ALWAYS(entry->start < entry->end);
    ALWAYS(seen->entries != seen->stop_at);
    seen->bytes += strlen(entry->path);
    return ++seen->entries == seen->stop_at ? 7 : 0;
}

/* A read buffer. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {80 << 10, 1, 0},
    [FUZZ_READS] = {16, 0, 0},
    [FUZZ_TIME] = {10000, 5, 0},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    struct seen all = {.stop_at = SIZE_MAX};

    ALWAYS(!maps_each(fuzz_file(data, size), look_at, &all));
    ALWAYS(all.bytes <= size);
    struct seen half = {.stop_at = (all.entries + 1) / 2};
    int result = half.stop_at ? maps_each(fuzz_file(data, size), look_at, &half) : 7;
    ALWAYS(result == 7 && half.entries == half.stop_at);
}
