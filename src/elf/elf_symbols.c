/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/elf_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/text.h"
#include "base/util.h"
#include "elf/elf_tables.h"

/* Against tables made to be slow: bytes of names that are too long for the window. */
#define MOST_LONG_NAMES (64 << 20)

/* Linkers mostly write names in the order of the symbols: the next one is near. */
struct window {
    const struct elf_symbol_table *table;
    uint64_t from;
    size_t length, long_names;
    char bytes[4096];
};

static int read_name(struct window *window, uint32_t place, struct text *name)
{
    const struct elf_symbol_table *table = window->table;

    for (int tries = 0; tries < 2 && place < table->names_size; tries++) {
        const size_t skip = (size_t)(place - window->from);
        if (place >= window->from && skip < window->length) {
            const char *start = window->bytes + skip;
            const size_t length = strnlen(start, window->length - skip);
            if (length < window->length - skip) {
                text_clear(name);
                text_append(name, start, length);
                elf_cut_version(name);
                return name->failed ? -ENOMEM : 0;
            }
        }
        window->from = place;
        window->length = sizeof(window->bytes);
        if (table->names_size - place < window->length)
            window->length = (size_t)(table->names_size - place);
        if (elf_read(table->elf, table->names + place, window->bytes, window->length))
            window->length = 0;
    }
    if (window->long_names > MOST_LONG_NAMES)
        return -ENOEXEC;
    int result = elf_read_name(table, place, name);
    window->long_names += name->length;
    return result;
}

/*
 * Functions already delivered, by a hash of address and name. .gnu_debugdata may repeat some of
 * .dynsym: its makers leave out names, and those in .dynsym may have a version.
 */
struct given {
    uint64_t *numbers;
    size_t count, room;
};

static uint64_t number_of(const struct elf_symbol *symbol)
{
    return hash_bytes(hash_word(0, symbol->address), symbol->name, strlen(symbol->name));
}

static int note_given(struct given *given, const struct elf_symbol *symbol)
{
    if (array_reserve(&given->numbers, &given->room, given->count + 1, sizeof(*given->numbers)))
        return -ENOMEM;
    given->numbers[given->count++] = number_of(symbol);
    return 0;
}

static bool was_given(const struct given *given, const struct elf_symbol *symbol)
{
    const uint64_t number = number_of(symbol);
    const size_t at = first_not_below(given->numbers, given->count, number);

    return at < given->count && given->numbers[at] == number;
}

struct giving {
    struct window window;
    elf_symbol_callback *each;
    void *context;
    bool is_first, is_last; /* of the tables */
    struct given given;
};

static int give(struct giving *giving, const struct elf_entry *entry, struct text *name)
{
    const struct elf *elf = giving->window.table->elf;
    uint64_t end;

    if (!elf_is_code(elf, entry, &end))
        return 0;
    int result = read_name(&giving->window, entry->name, name);
    if (result)
        return result == -ENOEXEC ? 0 : result;
    if (!name->length || elf_is_mark(elf, entry, name->data))
        return 0;
    const struct elf_symbol symbol = {name->data, entry->address, entry->size, entry->type,
                                      entry->binding, entry->entry};
    if (!giving->is_first && was_given(&giving->given, &symbol))
        return 0;
    result = giving->is_last ? 0 : note_given(&giving->given, &symbol);
    return result ? result : giving->each(giving->context, &symbol);
}

static int give_table(struct giving *giving, const struct elf_symbol_table *table)
{
    struct elf_pieces pieces;
    struct text name = {0};
    struct elf_entry entry;
    int result = elf_pieces_open(&pieces, table->elf, &table->symbols);

    if (result)
        return result;
    giving->window.table = table;
    giving->window.from = giving->window.length = giving->window.long_names = 0;
    while (!result && elf_pieces_next(&pieces))
        for (size_t i = 0; i < pieces.count && !result; i++)
            if (elf_get_entry(table->elf, pieces.bytes + i * pieces.left.entry_size, &entry))
                result = give(giving, &entry, &name);
    if (!result)
        result = pieces.error;
    elf_pieces_close(&pieces);
    text_free(&name);
    return result;
}

int elf_each_function(const struct elf *elf, elf_symbol_callback *each, void *context)
{
    struct giving *giving = calloc(1, sizeof(*giving));
    struct elf_symbol_tables tables;
    int result = 0;

    if (!giving)
        return -ENOMEM;
    giving->each = each;
    giving->context = context;
    elf_symbol_tables_open(elf, &tables);
    for (size_t i = 0; i < tables.count && !result; i++) {
        giving->is_first = i == 0;
        giving->is_last = i + 1 == tables.count;
        result = give_table(giving, &tables.items[i]);
        giving->given.count = sort_numbers(giving->given.numbers, giving->given.count);
    }
    elf_symbol_tables_close(&tables);
    free(giving->given.numbers);
    free(giving);
    return result < 0 ? result : 0;
}
