/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* ld.so.cache: an entry's strings are complete, and an entry that ends the walk does. */

#include <string.h>

#include "find/library.h"
#include "fuzz.h"

struct walk {
    const char *bytes;
    size_t length, entries, stop_at;
};

static int look_at(void *context, const struct link_cache_entry *entry)
{
    struct walk *walk = context;

    ALWAYS(entry->name >= walk->bytes && entry->path >= walk->bytes);
    ALWAYS(strlen(entry->name) < walk->length && strlen(entry->path) < walk->length);
    ALWAYS(walk->entries != walk->stop_at);
    (void)library_name_rank("c", entry->name);
    return ++walk->entries == walk->stop_at ? 7 : 0;
}

/* The reader parses the bytes in place. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {1024, 2, 0},
    [FUZZ_READS] = {1, 0, 0},
    [FUZZ_TIME] = {10000, 5, 0},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    /* Exactly its size: in use a NUL follows the file's text, which the reader must not rely on. */
    char *bytes = malloc(size + !size);
    struct walk walk = {.bytes = bytes, .length = size, .stop_at = SIZE_MAX};

    ALWAYS(bytes);
    memcpy(bytes, data, size);
    int result = link_cache_each(bytes, size, look_at, &walk);
    ALWAYS(result <= 0 && walk.entries <= size / 12);
    if (walk.entries) {
        walk.stop_at = (walk.entries + 1) / 2;
        walk.entries = 0;
        ALWAYS(link_cache_each(bytes, size, look_at, &walk) == 7);
        ALWAYS(walk.entries == walk.stop_at);
    }
    free(bytes);
}
