/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "snooping/frames.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "base/util.h"
#include "report/labels.h"
#include "symbolize/tracing_frames.h"

#define USER_NS 1000000000
#define MOST_FRAMES 65536 /* in each table */

static uint64_t hash_of(const struct symbol *symbol)
{
    const uint64_t process = (uint64_t)symbol->pid << 1 | symbol->is_return;

    return hash_word(hash_word(hash_word(hash_word(0, symbol->address), symbol->born), symbol->epoch), process);
}

static bool same_place(const struct symbol *a, const struct symbol *b)
{
    return a->address == b->address && a->pid == b->pid && a->born == b->born &&
           a->epoch == b->epoch && a->foreign == b->foreign && a->is_return == b->is_return;
}

static struct frame *add(struct frame_table *table, uint64_t hash, const struct symbol *place)
{
    struct frame *frame = calloc(1, sizeof(*frame));

    if (!frame || array_reserve(&table->items, &table->room, table->count + 1, sizeof(*table->items)) ||
        index_add(&table->index, hash, (uint32_t)table->count)) {
        free(frame);
        return NULL;
    }
    frame->symbol = *place;
    table->items[table->count++] = frame;
    return frame;
}

struct frame *frames_want(struct frames *frames, const struct symbol *place)
{
    struct frame_table *table = place->kernel ? &frames->kernel : &frames->user;
    uint64_t hash = hash_of(place);
    uint32_t item;
    size_t at = 0;

    while (index_next(&table->index, hash, &at, &item))
        if (same_place(&table->items[item]->symbol, place))
            return table->items[item];
    return add(table, hash, place);
}

/* The new ones of both tables, as one list. */
static size_t collect(const struct frames *frames, struct symbol **symbols)
{
    size_t count = 0;

    for (size_t i = frames->kernel.named; i < frames->kernel.count; i++)
        symbols[count++] = &frames->kernel.items[i]->symbol;
    for (size_t i = frames->user.named; i < frames->user.count; i++)
        symbols[count++] = &frames->user.items[i]->symbol;
    return count;
}

/* From then on only the line is needed. */
static int make_lines(struct frame_table *table, const struct record_options *options)
{
    for (; table->named < table->count; table->named++) {
        struct frame *frame = table->items[table->named];
        records_add_frame(&frame->line, &frame->symbol, options);
        frame->is_unknown = labels_is_unknown(&frame->symbol);
        frame->of_tracing = frame->symbol.kernel && tracing_frames_has(&frame->symbol);
        symbol_free(&frame->symbol);
        if (frame->line.failed)
            return -ENOMEM;
    }
    return 0;
}

int frames_name(struct frames *frames, const struct symbolize_wishes *wishes,
                struct symbolize_notes *notes, const struct record_options *options)
{
    size_t most = frames->kernel.count - frames->kernel.named + frames->user.count -
                  frames->user.named;
    struct symbol **symbols;

    if (!most)
        return 0;
    symbols = calloc(most, sizeof(*symbols));
    if (!symbols)
        return -ENOMEM;
    if (!frames->user.named)
        frames->user_since = now_ns();
    int result = symbols_name(symbols, collect(frames, symbols), wishes, notes);
    free(symbols);
    if (!result)
        result = make_lines(&frames->kernel, options);
    return result ? result : make_lines(&frames->user, options);
}

static void clear(struct frame_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        symbol_free(&table->items[i]->symbol);
        text_free(&table->items[i]->line);
        free(table->items[i]);
    }
    free(table->items);
    index_free(&table->index);
    *table = (struct frame_table){0};
}

void frames_tidy(struct frames *frames, uint64_t now)
{
    if (frames->kernel.count > MOST_FRAMES)
        clear(&frames->kernel);
    if (frames->user.count > MOST_FRAMES ||
        (frames->user.count && now - frames->user_since > USER_NS))
        clear(&frames->user);
}

void frames_free(struct frames *frames)
{
    clear(&frames->kernel);
    clear(&frames->user);
}
