/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The answer about patterns that a compromised process might send: the parser refuses it as a
 * whole, or all of its places can be attached and named.
 */
#include "find/user_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fuzz.h"

/* Memory in proportion to the answer's bytes. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {4096, 16, 0},
    [FUZZ_READS] = {1, 0, 0},
    [FUZZ_TIME] = {10000, 5, 0},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    static char *const words[] = {(char *)"c:mal*", (char *)"u:/bin/a:p:x", (char *)"vfs_read"};
    struct find find = {.tracefs = -1, .kallsyms = -1};
    struct text error = {0};
    int found = 0;

    ALWAYS(!find_parse(&find, words, sizeof(words) / sizeof(*words), false, &error));
    find.files = calloc(2, sizeof(*find.files));
    ALWAYS(find.files);
    for (; find.file_count < 2; find.file_count++) {
        struct library *library = &find.files[find.file_count].library;
        library->fd = -1;
        text_add(&library->file, find.file_count ? "/proc/self/fd/4" : "/proc/self/fd/3");
        text_add(&library->path, find.file_count ? "/bin/a" : "/usr/lib/libc.so.6");
    }
    int result = find_answer_read((const char *)data, size, &find, &found, &error);
    ALWAYS(result <= 0 && (!result || (!find.places.count && !error.length)));
    ALWAYS(result || (found <= 0 && found >= -4095));
    for (size_t i = 0; i < find.places.count; i++) {
        const struct place *place = &find.places.items[i];
        ALWAYS(place->kind == PLACE_USER && place->start <= START_OTHER);
        ALWAYS(*place->file && *place->path && *place_own_name(place));
        ALWAYS(place_own_name(place) < place->name + strlen(place->name));
    }
    places_remove_doubles(&find.places);
    text_free(&error);
    find_close(&find);
}
