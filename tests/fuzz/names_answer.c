/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The answer that a compromised process might send: the parser refuses it as a whole, or all of its
 * symbols, mappings and notes can be reported.
 */
#include "symbolize/naming.h"

#include <string.h>

#include "base/text.h"
#include "fuzz.h"

#define MOST 64

static void look_at_text(const struct text *text)
{
    ALWAYS(!text->failed && (!text->length || strlen(text->data) == text->length));
}

/* Names in proportion to the answer's bytes; the mappings take a read buffer. */
const struct fuzz_line fuzz_lines[FUZZ_COSTS] = {
    [FUZZ_BYTES] = {80 << 10, 32, 0},
    [FUZZ_READS] = {16, 0, 0},
    [FUZZ_TIME] = {10000, 5, 0},
};

void fuzz_input(const uint8_t *data, size_t size)
{
    struct symbol items[MOST] = {{0}}, *symbols[MOST];
    struct symbolize_notes notes = {0};
    struct symbol_mappings mappings = {0};
    /* The first byte: how many names the request is for, and whether it wants mappings. */
    struct names_request request = {.symbols = symbols, .notes = &notes};

    if (!size)
        return;
    request.count = *data % MOST;
    request.mappings = *data & 0x80 ? NULL : &mappings;
    for (size_t i = 0; i < MOST; i++)
        symbols[i] = &items[i];
    int result = names_answer_read((const char *)data + 1, size - 1, &request);
    ALWAYS(result <= 0 && (!result || !mappings.count));
    for (size_t i = 0; i < MOST; i++) {
        ALWAYS(!result || !items[i].function.length);
        ALWAYS(items[i].mapping <= mappings.count);
        look_at_text(&items[i].function);
        look_at_text(&items[i].raw);
    }
    if (!result && request.mappings) {
        ALWAYS(!mappings_place(&mappings, &(struct traced_file){NULL, -1}, items, request.count));
        for (size_t i = 0; i < mappings.count; i++)
            ALWAYS(mappings.items[i].start <= mappings.items[i].limit);
    }
    for (size_t i = 0; i < MOST; i++)
        symbol_free(&items[i]);
    symbolize_notes_free(&notes);
    mappings_free(&mappings);
}
