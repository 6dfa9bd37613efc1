/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbolize/names_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apart/answer.h"
#include "base/text.h"
#include "symbolize/mappings_kernel.h"

enum { IS_JITTED = 1, HAS_MAPPING = 2, HAS_START = 4 }; /* of a symbol */
enum { IS_FIXED = 1, GROWS = 2 };               /* of a mapping */
enum { MORE_UNOPENED = 1, MORE_PACKED = 2 };    /* of the notes */

/* ---- Writing ---- */

static void put_symbol(struct text *answer, const struct symbol *symbol)
{
    answer_put_byte(answer, (symbol->jitted ? IS_JITTED : 0) | (symbol->has_start ? HAS_START : 0) |
                                (symbol->mapping ? HAS_MAPPING : 0));
    answer_put_number(answer, symbol->offset);
    answer_put_text(answer, &symbol->function);
    answer_put_text(answer, &symbol->raw);
    if (!symbol->mapping)
        return;
    answer_put_number(answer, symbol->mapping);
    answer_put_number(answer, symbol->mapped_at);
}

static void put_mapping(struct text *answer, const struct symbol_mapping *mapping)
{
    answer_put_byte(answer, (mapping->is_fixed ? IS_FIXED : 0) | (mapping->grows ? GROWS : 0));
    answer_put_text(answer, &mapping->path);
    answer_put_text(answer, &mapping->build_id);
    answer_put_number(answer, mapping->own_start);
    answer_put_number(answer, mapping->own_limit);
    answer_put_number(answer, mapping->offset);
}

void names_answer_write(const struct names_asked *asked, struct text *answer)
{
    const struct symbolize_notes *notes = asked->notes;

    /* Mappings first: symbols refer to them. */
    answer_put_number(answer, asked->mappings ? asked->mappings->count - asked->known : 0);
    for (size_t i = asked->known; asked->mappings && i < asked->mappings->count; i++)
        put_mapping(answer, &asked->mappings->items[i]);
    for (size_t i = 0; i < asked->count; i++)
        put_symbol(answer, asked->symbols[i]);
    answer_put_byte(answer, (notes->more_unopened ? MORE_UNOPENED : 0) |
                            (notes->more_packed ? MORE_PACKED : 0));
    answer_put_text(answer, &notes->changed_file);
    answer_put_text(answer, &notes->unopened_file);
    answer_put_text(answer, &notes->packed_file);
}

/* ---- Reading ---- */

struct range {
    uint64_t start, limit;
};

/* It is read twice: first to check it, then to use it. */
struct reading {
    struct answer answer;
    struct range *ranges; /* of the mappings */
};

#define LONGEST ((size_t)1 << 20) /* of names; demangled ones may be long */

static bool makes_sense(const struct symbol_mapping *mapping)
{
    return mapping->own_start < mapping->own_limit &&
           (mapping->grows ? !mapping->is_fixed
                           : mapping->own_limit - mapping->own_start <= 2 * MAPPINGS_LARGEST);
}

static void take_mapping(struct reading *reading, struct symbol_mappings *mappings,
                         struct range *range)
{
    struct answer *answer = &reading->answer;
    struct text path = {0}, build_id = {0};
    struct symbol_mapping read = {0}, *added;
    const unsigned flags = answer_take_flags(answer, IS_FIXED | GROWS);

    answer_take_text(answer, LONGEST, &path);
    answer_take_text(answer, 2 * ELF_LONGEST_BUILD_ID, &build_id);
    read.is_fixed = flags & IS_FIXED;
    read.grows = flags & GROWS;
    read.own_start = range->start = answer_take_number(answer);
    read.own_limit = range->limit = answer_take_number(answer);
    read.offset = answer_take_number(answer);
    answer->is_bad = answer->is_bad || !makes_sense(&read);
    if (answer->for_good && !answer->is_bad && !answer->failed) {
        if (mappings_add(mappings, path.data ? path.data : "", build_id.data ? build_id.data : "",
                         &added)) {
            answer->failed = true;
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
    struct answer *answer = &reading->answer;
    const unsigned flags = answer_take_flags(answer, IS_JITTED | HAS_START | HAS_MAPPING);
    const uint64_t offset = answer_take_number(answer);
    uint64_t mapping = 0, at = 0;

    answer_take_text(answer, LONGEST, &symbol->function);
    answer_take_text(answer, LONGEST, &symbol->raw);
    if (flags & HAS_MAPPING) {
        mapping = answer_take_number(answer);
        at = answer_take_number(answer);
        answer->is_bad = answer->is_bad || mapping <= known || mapping > known + count;
        if (!answer->is_bad) {
            const struct range *range = &reading->ranges[mapping - known - 1];
            answer->is_bad = at < range->start || at >= range->limit;
        }
    }
    if (!answer->for_good || answer->is_bad)
        return;
    symbol->jitted = flags & IS_JITTED;
    symbol->has_start = flags & HAS_START;
    symbol->offset = offset;
    symbol->mapping = (uint32_t)mapping;
    symbol->mapped_at = at;
}

static void take_notes(struct answer *answer, struct symbolize_notes *notes)
{
    const unsigned flags = answer_take_flags(answer, MORE_UNOPENED | MORE_PACKED);

    answer_take_text(answer, LONGEST, &notes->changed_file);
    answer_take_text(answer, LONGEST, &notes->unopened_file);
    answer_take_text(answer, LONGEST, &notes->packed_file);
    if (!answer->for_good || answer->is_bad)
        return;
    notes->more_unopened = flags & MORE_UNOPENED;
    notes->more_packed = flags & MORE_PACKED;
}

static void read_all(struct reading *reading, const struct names_asked *asked)
{
    struct answer *answer = &reading->answer;
    const uint64_t count = answer_take_number(answer);

    answer->is_bad = answer->is_bad || (count && !asked->mappings) ||
                      count > (uint64_t)(answer->end - answer->at) ||
                      count > UINT32_MAX - 2 - asked->known;
    reading->ranges = answer->is_bad ? NULL : calloc((size_t)count + 1, sizeof(*reading->ranges));
    answer->failed = !reading->ranges;
    for (uint64_t i = 0; i < count && !answer->is_bad && !answer->failed; i++)
        take_mapping(reading, asked->mappings, &reading->ranges[i]);
    for (size_t i = 0; i < asked->count && !answer->is_bad && !answer->failed; i++)
        take_symbol(reading, asked->symbols[i], asked->known, count);
    if (!answer->is_bad && !answer->failed)
        take_notes(answer, asked->notes);
    answer->is_bad = answer->is_bad || (!answer->failed && answer->at != answer->end);
    free(reading->ranges);
}

int names_answer_read(const char *bytes, size_t length, const struct names_asked *asked)
{
    struct reading look = {.answer = {.at = bytes, .end = bytes + length}};

    if (!length)
        return -EBADMSG;
    read_all(&look, asked);
    if (look.answer.is_bad || look.answer.failed)
        return look.answer.is_bad ? -EBADMSG : -ENOMEM;
    struct reading reading = {
        .answer = {.at = bytes, .end = bytes + length, .for_good = true}};
    read_all(&reading, asked);
    return reading.answer.failed ? -ENOMEM : 0;
}
