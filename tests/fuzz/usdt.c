/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What patterns find in a file: USDT probes, by notes, and functions. */
#include "find/user_file.h"

#include <string.h>

#include "base/text.h"
#include "fuzz.h"

typedef int find_function(const struct user_file *, const struct pattern *, struct places *,
                          size_t *, struct text *);

/* Each place found is code in the file; if there is none, a message or `trouble` says why. */
static void try_pattern(const struct user_file *file, const char *typed, bool is_regex,
                        find_function *find)
{
    struct pattern pattern;
    struct places places = {0};
    struct text error = {0};
    size_t matched = 0;

    ALWAYS(!pattern_parse(&pattern, typed, is_regex, &error));
    int result = find(file, &pattern, &places, &matched, &error);
    ALWAYS(result <= 0 && (result || matched) && (file->trouble || !result == !error.length));
    for (size_t i = 0; i < places.count; i++) {
        const struct place *place = &places.items[i];
        uint64_t offset;
        ALWAYS(place->kind == PLACE_USER && elf_code_at(&file->elf, place->address));
        ALWAYS(elf_offset_of(&file->elf, place->address, &offset));
        ALWAYS(offset == place->file_offset);
        ALWAYS(strchr(place->name, ':') && *place_own_name(place));
    }
    places_remove_doubles(&places);
    places_free(&places);
    pattern_free(&pattern);
    text_free(&error);
}

/* Six patterns read the file one after the other; of a hole what reading_budget() allows. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {256 << 10, 64, 80 << 20},
    [FUZZ_READS] = {1000, 4, 2 << 17},
    [FUZZ_TIME] = {20000, 20, 4000000},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    uint64_t whole;
    struct user_file file = {.library.fd = fuzz_sparse_file(data, size, &whole)};

    if (elf_open_watched(&file.elf, file.library.fd, 0, &file.trouble))
        return;
    text_add(&file.library.path, "/usr/lib/input");
    text_add(&file.library.file, "/proc/1/root/usr/lib/input");
    try_pattern(&file, "u:input:*", false, usdt_find);
    try_pattern(&file, "u:input:provider:prob", false, usdt_find);
    try_pattern(&file, "u:input:p.*:^(probe|second)$", true, usdt_find);
    try_pattern(&file, "input:*", false, user_functions_find);
    try_pattern(&file, "input:first+2", false, user_functions_find);
    try_pattern(&file, "r:input:outer", false, user_functions_find);
    text_free(&file.library.path);
    text_free(&file.library.file);
    elf_close(&file.elf);
}
