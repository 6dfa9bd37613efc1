/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "find/find_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apart/answer.h"
#include "apart/apart.h"
#include "base/text.h"
#include "find/find_files.h"
#include "find/library_names.h"

enum { AT_RETURN = 1, NAMED = 2, IS_USDT = 4, SAME_FILE = 8 }; /* of a place */

#define LONGEST ((size_t)1 << 20)

bool find_is_users(const struct pattern *pattern)
{
    return pattern->kind == PATTERN_USER_FUNCTION || pattern->kind == PATTERN_USDT;
}

void find_explain_apart(int result, int signal, struct text *error)
{
    text_clear(error);
    text_add(error, "cannot look for functions: the process that reads programs ");
    apart_explain(result, signal, error);
}

/* ---- Writing ---- */

static size_t file_of(const struct find *find, const struct place *place)
{
    size_t i = 0;

    while (i + 1 < find->file_count && (strcmp(find->files[i].library.file.data, place->file) ||
                                        strcmp(find->files[i].library.path.data, place->path)))
        i++;
    return i;
}

/* There may be many thousands in one file, which is said once. */
static void put_place(struct text *answer, const struct find *find, const struct place *place,
                      const struct place *before)
{
    bool same = before && before->file == place->file && before->path == place->path;

    answer_put_byte(answer, (place->at_return ? AT_RETURN : 0) | (place->named ? NAMED : 0) |
                            (place->is_usdt ? IS_USDT : 0) | (same ? SAME_FILE : 0));
    if (!same)
        answer_put_number(answer, file_of(find, place));
    answer_put_bytes(answer, place->name, strlen(place->name));
    answer_put_byte(answer, place->start);
    answer_put_number(answer, place->address);
    answer_put_number(answer, place->offset);
    answer_put_number(answer, place->file_offset);
    answer_put_number(answer, place->semaphore);
}

void find_answer_write(const struct find *find, size_t known, int result, const struct text *error,
                       struct text *answer)
{
    answer_put_number(answer, (uint64_t)-result);
    answer_put_text(answer, error);
    answer_put_text(answer, &find->unread);
    answer_put_text(answer, &find->left_out);
    for (size_t i = 0; i < find->count; i++)
        if (find_is_users(&find->patterns[i]))
            answer_put_number(answer, find->matched[i]);
    answer_put_number(answer, find->places.count - known);
    for (size_t i = known; i < find->places.count; i++)
        put_place(answer, find, &find->places.items[i], i > known ? &find->places.items[i - 1] : NULL);
}

/* ---- Reading ---- */

struct taking {
    const struct found_file *file; /* of the place before; NULL: none */
    struct text name;
};

/* "libc.so.6:malloc", from which place_own_name() takes what follows the file's name. */
static bool is_named_well(const struct taking *taking)
{
    const char *base = base_name(taking->file->library.path.data);
    const size_t length = strlen(base);

    return taking->name.length > length + 1 && !memcmp(taking->name.data, base, length) &&
           taking->name.data[length] == ':';
}

static void take_file(struct answer *answer, struct taking *taking, const struct find *read)
{
    const uint64_t number = answer_take_number(answer);

    answer->is_bad = answer->is_bad || number >= read->file_count;
    taking->file = answer->is_bad ? NULL : &read->files[number];
}

static void take_place(struct answer *answer, struct taking *taking, struct find *read)
{
    const unsigned flags = answer_take_flags(answer, AT_RETURN | NAMED | IS_USDT | SAME_FILE);
    struct place place = {
        .kind = PLACE_USER, .at_return = flags & AT_RETURN, .named = flags & NAMED,
        .is_usdt = flags & IS_USDT,
    };

    if (!(flags & SAME_FILE))
        take_file(answer, taking, read);
    answer_take_text(answer, LONGEST, &taking->name);
    place.start = (enum place_start)answer_take_byte(answer);
    place.address = answer_take_number(answer);
    place.offset = answer_take_number(answer);
    place.file_offset = answer_take_number(answer);
    place.semaphore = answer_take_number(answer);
    answer->is_bad = answer->is_bad || place.start > START_OTHER || place.file_offset > INT64_MAX ||
                     place.semaphore > INT64_MAX || !taking->file ||
                     (!answer->failed && !is_named_well(taking));
    if (answer->is_bad || answer->failed)
        return;
    place.name = taking->name.data;
    place.file = taking->file->library.file.data;
    place.path = taking->file->library.path.data;
    place.device = taking->file->about.st_dev;
    place.inode = taking->file->about.st_ino;
    answer->failed = places_add(&read->places, &place) != 0;
}

/* Like find, but with only what is found here. */
static void take_all(struct answer *answer, struct find *read, int *found, struct text *error)
{
    struct taking taking = {0};
    const uint64_t negative = answer_take_number(answer);

    answer->is_bad = answer->is_bad || negative > 4095;
    *found = answer->is_bad ? 0 : -(int)negative;
    answer_take_text(answer, LONGEST, error);
    answer_take_text(answer, LONGEST, &read->unread);
    answer_take_text(answer, LONGEST, &read->left_out);
    for (size_t i = 0; i < read->count; i++)
        if (find_is_users(&read->patterns[i]))
            read->matched[i] = (size_t)answer_take_number(answer);
    for (uint64_t left = answer_take_number(answer);
         left && !answer->is_bad && !answer->failed; left--)
        take_place(answer, &taking, read);
    answer->is_bad = answer->is_bad || (!answer->failed && answer->at != answer->end);
    text_free(&taking.name);
}

int find_answer_read(const char *bytes, size_t length, struct find *find, int *found,
                     struct text *error)
{
    struct answer answer = {.at = bytes, .end = bytes + length, .for_good = true};
    struct find read = {.patterns = find->patterns, .count = find->count,
                        .files = find->files, .file_count = find->file_count,
                        .matched = calloc(find->count + 1, sizeof(*read.matched))};
    int result = read.matched && length ? 0 : read.matched ? -EBADMSG : -ENOMEM;

    if (!result) {
        take_all(&answer, &read, found, error);
        result = answer.is_bad ? -EBADMSG : answer.failed ? -ENOMEM : 0;
    }
    for (size_t i = 0; i < read.places.count && !result; i++)
        result = places_add(&find->places, &read.places.items[i]);
    for (size_t i = 0; i < find->count && !result; i++)
        if (find_is_users(&find->patterns[i]))
            find->matched[i] = read.matched[i];
    if (!result && read.unread.length && !find->unread.length)
        text_append(&find->unread, read.unread.data, read.unread.length);
    if (!result && read.left_out.length && !find->left_out.length)
        text_append(&find->left_out, read.left_out.data, read.left_out.length);
    if (result || !*found)
        text_clear(error);
    places_free(&read.places);
    text_free(&read.unread);
    text_free(&read.left_out);
    free(read.matched);
    return result;
}
