/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbols/names_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/mappings_kernel.h"

enum { IS_JITTED = 1, HAS_MAPPING = 2 };        /* of a symbol */
enum { IS_FIXED = 1, GROWS = 2 };               /* of a mapping */
enum { MORE_UNOPENED = 1, MORE_PACKED = 2 };    /* of the notes */

/* ---- Writing ---- */

static void put_number(struct text *answer, uint64_t number)
{
    text_append(answer, (const char *)&number, sizeof(number));
}

static void put_text(struct text *answer, const struct text *text)
{
    const uint32_t length = (uint32_t)text->length;

    text_append(answer, (const char *)&length, sizeof(length));
    text_append(answer, text->data, length);
    answer->failed = answer->failed || text->failed || length != text->length;
}

static void put_symbol(struct text *answer, const struct symbol *symbol)
{
    const char flags = (char)((symbol->jitted ? IS_JITTED : 0) |
                              (symbol->mapping ? HAS_MAPPING : 0));

    text_append(answer, &flags, 1);
    put_number(answer, symbol->offset);
    put_text(answer, &symbol->function);
    put_text(answer, &symbol->raw);
    if (!symbol->mapping)
        return;
    put_number(answer, symbol->mapping);
    put_number(answer, symbol->mapped_at);
}

static void put_mapping(struct text *answer, const struct symbol_mapping *mapping)
{
    const char flags = (char)((mapping->is_fixed ? IS_FIXED : 0) | (mapping->grows ? GROWS : 0));

    text_append(answer, &flags, 1);
    put_text(answer, &mapping->path);
    put_text(answer, &mapping->build_id);
    put_number(answer, mapping->own_start);
    put_number(answer, mapping->own_limit);
    put_number(answer, mapping->offset);
}

void names_answer_write(const struct names_asked *asked, struct text *answer)
{
    const struct symbolize_notes *notes = asked->notes;
    const char flags = (char)((notes->more_unopened ? MORE_UNOPENED : 0) |
                              (notes->more_packed ? MORE_PACKED : 0));

    /* Mappings first: symbols lead to them. */
    put_number(answer, asked->mappings ? asked->mappings->count - asked->known : 0);
    for (size_t i = asked->known; asked->mappings && i < asked->mappings->count; i++)
        put_mapping(answer, &asked->mappings->items[i]);
    for (size_t i = 0; i < asked->count; i++)
        put_symbol(answer, asked->symbols[i]);
    text_append(answer, &flags, 1);
    put_text(answer, &notes->changed_file);
    put_text(answer, &notes->unopened_file);
    put_text(answer, &notes->packed_file);
}

/* ---- Reading ---- */

/* It is read twice: whether it makes sense, then for good. */
struct reading {
    const char *at, *end;
    bool is_bad, for_good, failed;
    struct range *ranges; /* of the mappings */
};

struct range {
    uint64_t start, limit;
};

static const char *take(struct reading *reading, size_t size)
{
    const char *at = reading->at;

    if (reading->is_bad || size > (size_t)(reading->end - at)) {
        reading->is_bad = true;
        return NULL;
    }
    reading->at += size;
    return at;
}

static uint64_t take_number(struct reading *reading)
{
    const char *bytes = take(reading, sizeof(uint64_t));
    uint64_t number = 0;

    if (bytes)
        memcpy(&number, bytes, sizeof(number));
    return number;
}

static unsigned take_flags(struct reading *reading, unsigned known)
{
    const char *byte = take(reading, 1);
    unsigned flags = byte ? (unsigned char)*byte : 0;

    reading->is_bad = reading->is_bad || (flags & ~known);
    return flags;
}

/* Nothing here holds a NUL. For good the text becomes it; `most`: longer ones are none of ours. */
static void take_text(struct reading *reading, size_t most, struct text *text)
{
    const char *bytes = take(reading, sizeof(uint32_t));
    uint32_t length = 0;

    if (bytes)
        memcpy(&length, bytes, sizeof(length));
    bytes = take(reading, length);
    if (!bytes || length > most || memchr(bytes, '\0', length)) {
        reading->is_bad = true;
        return;
    }
    if (!reading->for_good)
        return;
    text_clear(text);
    if (length)
        text_append(text, bytes, length);
    reading->failed = reading->failed || text->failed;
}

#define LONGEST ((size_t)1 << 20) /* of names; those that are unmangled may be long */

static bool makes_sense(const struct symbol_mapping *mapping)
{
    return mapping->own_start < mapping->own_limit &&
           (mapping->grows ? !mapping->is_fixed
                           : mapping->own_limit - mapping->own_start <= 2 * MAPPINGS_LARGEST);
}

static void take_mapping(struct reading *reading, struct symbol_mappings *mappings,
                         struct range *range)
{
    struct text path = {0}, build_id = {0};
    struct symbol_mapping read = {0}, *added;
    const unsigned flags = take_flags(reading, IS_FIXED | GROWS);

    take_text(reading, LONGEST, &path);
    take_text(reading, 2 * ELF_LONGEST_BUILD_ID, &build_id);
    read.is_fixed = flags & IS_FIXED;
    read.grows = flags & GROWS;
    read.own_start = range->start = take_number(reading);
    read.own_limit = range->limit = take_number(reading);
    read.offset = take_number(reading);
    reading->is_bad = reading->is_bad || !makes_sense(&read);
    if (reading->for_good && !reading->is_bad && !reading->failed) {
        if (mappings_add(mappings, path.data ? path.data : "", build_id.data ? build_id.data : "",
                         &added)) {
            reading->failed = true;
        } else {
            read.path = added->path;
            read.build_id = added->build_id;
            *added = read;
        }
    }
    text_free(&path);
    text_free(&build_id);
}

static void take_symbol(struct reading *reading, struct symbol *symbol, size_t known,
                        uint64_t count)
{
    const unsigned flags = take_flags(reading, IS_JITTED | HAS_MAPPING);
    const uint64_t offset = take_number(reading);
    uint64_t mapping = 0, at = 0;

    take_text(reading, LONGEST, &symbol->function);
    take_text(reading, LONGEST, &symbol->raw);
    if (flags & HAS_MAPPING) {
        mapping = take_number(reading);
        at = take_number(reading);
        reading->is_bad = reading->is_bad || mapping <= known || mapping > known + count;
        if (!reading->is_bad) {
            const struct range *range = &reading->ranges[mapping - known - 1];
            reading->is_bad = at < range->start || at >= range->limit;
        }
    }
    if (!reading->for_good || reading->is_bad)
        return;
    symbol->jitted = flags & IS_JITTED;
    symbol->offset = offset;
    symbol->mapping = (uint32_t)mapping;
    symbol->mapped_at = at;
}

static void take_notes(struct reading *reading, struct symbolize_notes *notes)
{
    const unsigned flags = take_flags(reading, MORE_UNOPENED | MORE_PACKED);

    take_text(reading, LONGEST, &notes->changed_file);
    take_text(reading, LONGEST, &notes->unopened_file);
    take_text(reading, LONGEST, &notes->packed_file);
    if (!reading->for_good || reading->is_bad)
        return;
    notes->more_unopened = flags & MORE_UNOPENED;
    notes->more_packed = flags & MORE_PACKED;
}

static void read_all(struct reading *reading, const struct names_asked *asked)
{
    const uint64_t count = take_number(reading);

    reading->is_bad = reading->is_bad || (count && !asked->mappings) ||
                      count > (uint64_t)(reading->end - reading->at) ||
                      count > UINT32_MAX - 2 - asked->known;
    reading->ranges = reading->is_bad ? NULL : calloc((size_t)count + 1, sizeof(*reading->ranges));
    reading->failed = !reading->ranges;
    for (uint64_t i = 0; i < count && !reading->is_bad && !reading->failed; i++)
        take_mapping(reading, asked->mappings, &reading->ranges[i]);
    for (size_t i = 0; i < asked->count && !reading->is_bad && !reading->failed; i++)
        take_symbol(reading, asked->symbols[i], asked->known, count);
    if (!reading->is_bad && !reading->failed)
        take_notes(reading, asked->notes);
    reading->is_bad = reading->is_bad || (!reading->failed && reading->at != reading->end);
    free(reading->ranges);
}

int names_answer_read(const char *bytes, size_t length, const struct names_asked *asked)
{
    struct reading look = {.at = bytes, .end = bytes + length};

    if (!length)
        return -EBADMSG;
    read_all(&look, asked);
    if (look.is_bad || look.failed)
        return look.is_bad ? -EBADMSG : -ENOMEM;
    struct reading reading = {.at = bytes, .end = bytes + length, .for_good = true};
    read_all(&reading, asked);
    return reading.failed ? -ENOMEM : 0;
}
