/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/elf_plt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/text.h"
#include "elf/elf_tables.h"

/*
 * A PLT entry jumps to an address in a word of data, and a relocation names the function whose
 * address the dynamic linker puts there. So the entry's instructions tell which one it is, whatever
 * linker made it, and in whatever order.
 */
struct entry {
    struct machine_plt_entry found; /* its word holds the address it jumps to */
    size_t index;    /* of the address in it */
    bool is_claimed; /* by a relocation, with */
    uint64_t symbol; /* this symbol, or 0, or */
    uint64_t chooser; /* the function, unless 0, that chooses the target */
};

struct entries {
    struct entry *items; /* sorted by their words */
    size_t count, unclaimed;
    uint64_t searched; /* bytes of relocations */
};

/* Any number of sections may refer to the same bytes. */
#define MOST_RELOCATION_BYTES (256 << 20)

/* ---- Which addresses are in entries ---- */

static bool read_section(const struct machine_plt *plt, uint64_t skip, void *to, size_t size)
{
    const struct elf_section *section = plt->section;

    return !elf_read(plt->file, section->offset + skip, to, size);
}

static uint64_t global_offset_table(const struct elf *elf)
{
    const struct elf_section *section = elf_section(elf, ".got.plt");

    if (!section)
        section = elf_section(elf, ".got");
    return section ? section->address : 0;
}

static struct machine_plt look_at(const struct elf *elf, const struct elf_section *section)
{
    return (struct machine_plt){
        .machine = elf->row,
        .address = section->address, .size = section->size, .entry_size = section->entry_size,
        .table = global_offset_table(elf),
        .file = elf, .section = section, .read = read_section,
    };
}

static bool has_entries(const struct elf *elf, const struct elf_section *section)
{
    /* .plt.got and .plt.sec too */
    return section->type == SHT_PROGBITS && section->offset <= UINT64_MAX - section->size &&
           (elf_is_named(elf, section, ".plt", 4) || elf_is_named(elf, section, ".iplt", 5));
}

/* Only object files have more, and those have no such entries. */
#define MOST_SECTIONS 4096

static const struct elf_section *code_section_at(const struct elf *elf, uint64_t address)
{
    for (size_t i = 1; i < elf->section_count && i < MOST_SECTIONS; i++) {
        const struct elf_section *section = &elf->sections[i];
        if (section->flags & SHF_EXECINSTR && address >= section->address &&
            address - section->address < section->size)
            return section;
    }
    return NULL;
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    return a->found.word < b->found.word ? -1 : a->found.word > b->found.word;
}

static void collect(const struct elf *elf, const uint64_t *addresses, size_t count,
                    const struct elf_found *found, struct entries *entries)
{
    const struct elf_section *section = NULL;
    struct machine_plt plt;
    bool is_plt = false;

    if (!elf->row->plt_entry)
        return;
    for (size_t i = 0; i < count; i++) {
        if (found[i].found)
            continue;
        if (!section || addresses[i] - section->address >= section->size) {
            section = code_section_at(elf, addresses[i]);
            is_plt = section && has_entries(elf, section);
            if (is_plt)
                plt = look_at(elf, section);
        }
        struct entry *entry = &entries->items[entries->count];
        *entry = (struct entry){.index = i};
        if (is_plt && elf->row->plt_entry(&plt, addresses[i], &entry->found))
            entries->count++;
    }
    entries->unclaimed = entries->count;
    if (entries->count)
        qsort(entries->items, entries->count, sizeof(*entries->items), compare_entries);
}

/* ---- Which relocations belong to them ---- */

static uint64_t chooser_of(const struct elf *elf, const unsigned char *relocation, bool has_addend,
                           uint64_t word)
{
    unsigned char bytes[8];
    uint64_t offset;

    if (has_addend)
        return ELF_FIELD(elf, relocation, Rela, r_addend);
    if (!elf_offset_of(elf, word, &offset) || elf_read(elf, offset, bytes, elf_word_size(elf)))
        return 0;
    return elf_get_word(elf, bytes);
}

static bool is_below(const void *entry, const void *word)
{
    return ((const struct entry *)entry)->found.word < *(const uint64_t *)word;
}

static size_t first_with(const struct entries *entries, uint64_t word)
{
    return search_first(entries->items, entries->count, sizeof(*entries->items), &word, is_below);
}

/* If several relocations claim a word, the first counts. */
static void take_relocation(const struct elf *elf, struct entries *entries,
                            const unsigned char *relocation, bool has_addend)
{
    const uint64_t word = ELF_FIELD(elf, relocation, Rel, r_offset);
    const uint64_t info = ELF_FIELD(elf, relocation, Rel, r_info);
    struct entry *entry = entries->items + first_with(entries, word);
    struct entry *end = entries->items + entries->count;

    if (entry == end || entry->found.word != word || entry->is_claimed)
        return;
    const uint64_t symbol = elf->is_64 ? info >> 32 : info >> 8;
    uint64_t chooser = 0;
    /* IFUNCs resolved at startup, as in static programs. */
    if ((uint32_t)(elf->is_64 ? info : info & 0xff) == elf->row->irelative)
        chooser = chooser_of(elf, relocation, has_addend, word);
    for (; entry < end && entry->found.word == word; entry++) {
        entry->is_claimed = true;
        entry->symbol = symbol;
        entry->chooser = chooser;
        entries->unclaimed--;
    }
}

static int take_relocations(const struct elf *elf, struct entries *entries,
                            const struct elf_section *section)
{
    const bool has_addend = section->type == SHT_RELA;
    struct elf_pieces pieces;
    struct elf_table table;

    if (!elf_table_of(section, has_addend ? ELF_SIZE(elf, Rela) : ELF_SIZE(elf, Rel), &table))
        return 0;
    int result = elf_pieces_open(&pieces, elf, &table);
    if (result)
        return result;
    while (entries->unclaimed && entries->searched < MOST_RELOCATION_BYTES &&
           elf_pieces_next(&pieces)) {
        for (size_t i = 0; i < pieces.count; i++)
            take_relocation(elf, entries, pieces.bytes + i * table.entry_size, has_addend);
        entries->searched += pieces.count * table.entry_size;
    }
    elf_pieces_close(&pieces);
    return pieces.error == -ENOEXEC ? 0 : pieces.error;
}

/* .rela.plt holds nearly all of them and is small; .rela.dyn may be of any size. */
static int take_all(const struct elf *elf, struct entries *entries, bool of_plt)
{
    int result = 0;

    for (size_t i = 1;
         i < elf->section_count && i < MOST_SECTIONS && entries->unclaimed && !result; i++) {
        const struct elf_section *section = &elf->sections[i];
        if ((section->type != SHT_RELA && section->type != SHT_REL) ||
            !(section->flags & SHF_ALLOC))
            continue;
        const bool is_plt = elf_is_named(elf, section, ".rela.plt", sizeof(".rela.plt")) ||
                            elf_is_named(elf, section, ".rel.plt", sizeof(".rel.plt"));
        if (is_plt == of_plt)
            result = take_relocations(elf, entries, section);
    }
    return result;
}

/* ---- Their names ---- */

static int set_name(struct elf_found *found, const struct entry *entry, const char *name)
{
    text_clear(&found->name);
    text_format(&found->name, "%s@plt", name);
    found->start = entry->found.start;
    found->found = !found->name.failed;
    return found->found ? 0 : -ENOMEM;
}

static int name_by_symbols(const struct elf *elf, const struct entries *entries,
                           struct elf_found *found)
{
    struct elf_symbol_table table;
    struct text name = {0};
    int result = 0;

    if (!elf_dynamic_symbols(elf, &table))
        return 0;
    const uint64_t count = table.symbols.size / table.symbols.entry_size;
    for (size_t i = 0; i < entries->count && !result; i++) {
        const struct entry *entry = &entries->items[i];
        unsigned char symbol[sizeof(Elf64_Sym)];
        if (!entry->symbol || entry->symbol >= count)
            continue;
        result = elf_read(elf, table.symbols.offset + entry->symbol * table.symbols.entry_size,
                          symbol, ELF_SIZE(elf, Sym));
        if (!result)
            result = elf_read_name(&table, (uint32_t)ELF_FIELD(elf, symbol, Sym, st_name), &name);
        if (!result && name.length)
            result = set_name(&found[entry->index], entry, name.data);
        if (result == -ENOEXEC)
            result = 0;
    }
    text_free(&name);
    return result;
}

static int compare_choosers(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    return a->chooser < b->chooser ? -1 : a->chooser > b->chooser;
}

/* The choosing function has the name of what it chooses. */
static int name_by_choosers(const struct elf *elf, const struct entries *entries,
                            struct elf_found *found)
{
    uint64_t *addresses = calloc(entries->count, sizeof(*addresses));
    struct elf_found *choosers = calloc(entries->count, sizeof(*choosers));
    size_t count = 0, at = 0;
    int result = addresses && choosers ? 0 : -ENOMEM;

    qsort(entries->items, entries->count, sizeof(*entries->items), compare_choosers);
    for (size_t i = 0; i < entries->count && !result; i++) {
        const uint64_t chooser = entries->items[i].chooser;
        if (chooser && (!count || addresses[count - 1] != chooser))
            addresses[count++] = chooser;
    }
    if (!result && count)
        result = elf_find_symbols(elf, addresses, count, choosers);
    for (size_t i = 0; i < entries->count && !result; i++) {
        const struct entry *entry = &entries->items[i];
        while (at < count && addresses[at] < entry->chooser)
            at++;
        if (entry->chooser && choosers[at].found)
            result = set_name(&found[entry->index], entry, choosers[at].name.data);
    }
    if (choosers)
        elf_found_free(choosers, count);
    free(choosers);
    free(addresses);
    return result;
}

int elf_plt_find(const struct elf *elf, const uint64_t *addresses, size_t count,
                 struct elf_found *found)
{
    struct entries entries = {.items = calloc(count + 1, sizeof(*entries.items))};
    int result = entries.items ? 0 : -ENOMEM;

    if (!result)
        collect(elf, addresses, count, found, &entries);
    if (entries.count) {
        result = take_all(elf, &entries, true);
        if (!result)
            result = take_all(elf, &entries, false);
        if (!result)
            result = name_by_symbols(elf, &entries, found);
        if (!result)
            result = name_by_choosers(elf, &entries, found);
    }
    free(entries.items);
    return result;
}
