/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "symbols/elf_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf_tables.h"

/* Of tables that are made to be slow: bytes of names that are too long for the window. */
#define MOST_LONG_NAMES (64 << 20)

/* Linkers write the names mostly in the order of the symbols: the next one is near. */
struct window {
    const struct elf *elf;
    const struct elf_symbol_table *table;
    uint64_t from;
    size_t length, long_names;
    char bytes[4096];
};

static int read_name(struct window *window, uint32_t place, struct text *name)
{
    const struct elf_symbol_table *table = window->table;

    for (int tries = 0; tries < 2 && place < table->names_size; tries++) {
        const size_t skip = place - window->from;
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
        if (elf_read(window->elf, table->names + place, window->bytes, window->length))
            window->length = 0;
    }
    if (window->long_names > MOST_LONG_NAMES)
        return -ENOEXEC;
    int result = elf_read_name(window->elf, table, place, name);
    window->long_names += name->length;
    return result;
}

static int give(struct window *window, const struct elf_entry *entry, struct text *name,
                elf_symbol_callback *each, void *context)
{
    uint64_t end;

    if (!elf_is_code(window->elf, entry, &end))
        return 0;
    int result = read_name(window, entry->name, name);
    if (result)
        return result == -ENOEXEC ? 0 : result;
    if (!name->length || elf_is_mark(window->elf, entry, name->data))
        return 0;
    const struct elf_symbol symbol = {name->data, entry->address, entry->size, entry->type,
                                      entry->binding};
    return each(context, &symbol);
}

static int give_all(struct window *window, elf_symbol_callback *each, void *context)
{
    struct elf_pieces pieces;
    struct text name = {0};
    struct elf_entry entry;
    int result = elf_pieces_open(&pieces, window->elf, &window->table->symbols);

    if (result)
        return result;
    while (!result && elf_pieces_next(&pieces))
        for (size_t i = 0; i < pieces.count && !result; i++)
            if (elf_get_entry(window->elf, pieces.bytes + i * pieces.left.entry_size, &entry))
                result = give(window, &entry, &name, each, context);
    if (!result)
        result = pieces.error;
    elf_pieces_close(&pieces);
    text_free(&name);
    return result < 0 ? result : 0;
}

int elf_each_function(const struct elf *elf, elf_symbol_callback *each, void *context)
{
    struct elf_symbol_table table;

    if (!elf_full_symbols(elf, &table) && !elf_dynamic_symbols(elf, &table))
        return 0;
    struct window *window = malloc(sizeof(*window));
    if (!window)
        return -ENOMEM;
    window->elf = elf;
    window->table = &table;
    window->from = window->length = window->long_names = 0;
    int result = give_all(window, each, context);
    free(window);
    return result;
}
