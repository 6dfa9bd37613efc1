/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/elf_plt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "elf/elf_tables.h"

/*
 * Such an entry jumps to the address in a word of data, and a relocation says whose address the
 * dynamic linker is to put there. So its own instructions say which one it is, whatever linker made
 * it, and in whatever order.
 */
struct entry {
    uint64_t word;  /* what it jumps by */
    uint64_t start;
    size_t index;   /* of the address that lies in it */
    bool is_claimed; /* by a relocation, of */
    uint64_t symbol; /* this symbol, or 0, or */
    uint64_t chooser; /* what this function, unless 0, chooses */
};

struct entries {
    struct entry *items; /* sorted by their words */
    size_t count, unclaimed;
    uint64_t searched; /* bytes of relocations */
};

/* Any number of sections may name the same bytes. */
#define MOST_RELOCATION_BYTES (256 << 20)

/* Instructions have their own byte order. */
static uint32_t little32(const unsigned char *bytes)
{
    return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* ---- x86: [endbr] [mov $n,%r11d] [bnd] jmp *WORD, at a multiple of 16 or 8 bytes ---- */

static uint64_t global_offset_table(const struct elf *elf)
{
    const struct elf_section *section = elf_section(elf, ".got.plt");

    if (!section)
        section = elf_section(elf, ".got");
    return section ? section->address : 0;
}

/* What of an entry is in the section, which may end with a short one. */
static size_t read_entry(const struct elf *elf, const struct elf_section *plt, uint64_t skip,
                         size_t size, unsigned char *code)
{
    if (plt->size - skip < size)
        size = (size_t)(plt->size - skip);
    memset(code, 0, 16);
    return elf_read(elf, plt->offset + skip, code, size) ? 0 : size;
}

static bool decode_x86(const struct elf *elf, const struct elf_section *plt, uint64_t address,
                       struct entry *entry)
{
    const uint64_t distance = address - plt->address;
    uint64_t skip = distance & ~(uint64_t)15;
    unsigned char code[24] = {0};
    size_t at = 0, size = read_entry(elf, plt, skip, 16, code);

    /* Without anything but the jump, and its padding, entries have eight bytes. */
    if (plt->entry_size == 8 ||
        (!memcmp(code, "\xff\x25", 2) && !memcmp(code + 6, "\x66\x90", 2))) {
        skip = distance & ~(uint64_t)7;
        size = read_entry(elf, plt, skip, 8, code);
    }
    if (!memcmp(code, "\xf3\x0f\x1e", 3))
        at += 4;
    if (!memcmp(code + at, "\x41\xbb", 2))
        at += 6;
    if (code[at] == 0xf2)
        at++;
    const bool by_register = code[at + 1] == 0xa3 && elf->machine == EM_386;
    if (at + 6 > size || code[at] != 0xff || (code[at + 1] != 0x25 && !by_register))
        return false;
    const uint32_t to = little32(code + at + 2);
    entry->start = plt->address + skip;
    if (elf->machine == EM_X86_64)
        entry->word = entry->start + at + 6 + (uint64_t)(int64_t)(int32_t)to;
    else
        entry->word = (uint32_t)(to + (by_register ? global_offset_table(elf) : 0));
    return true;
}

/* ---- aarch64: [bti c] adrp x16, PAGE; ldr x17, [x16, #N]; add; [autia1716]; br x17 ---- */

#define BTI_C 0xd503245f

static bool decode_aarch64(const struct elf *elf, const struct elf_section *plt, uint64_t address,
                           struct entry *entry)
{
    /* The adrp is the last at or before the address, or follows a bti that is the address. */
    for (int back = -1; back <= 5; back++) {
        unsigned char code[8];
        const uint64_t at = (address & ~(uint64_t)3) - (uint64_t)(int64_t)back * 4;
        if (at < plt->address || at - plt->address > plt->size - 8 ||
            elf_read(elf, plt->offset + (at - plt->address), code, sizeof(code)))
            continue;
        const uint32_t first = little32(code), second = little32(code + 4);
        if ((first & 0x9f00001f) != 0x90000010 || (second & 0xffc003ff) != 0xf9400211)
            continue;
        entry->start = at;
        if (at - plt->address >= 4 &&
            !elf_read(elf, plt->offset + (at - plt->address) - 4, code, 4) &&
            little32(code) == BTI_C)
            entry->start -= 4;
        if (entry->start > address)
            continue;
        const uint32_t pages = (first >> 29 & 3) | (first >> 3 & 0x1ffffc);
        entry->word = (at & ~(uint64_t)4095) +
                      (uint64_t)((int64_t)((uint64_t)pages << 43) >> 43) * 4096 +
                      (second >> 10 & 0xfff) * 8;
        return true;
    }
    return false;
}

/* ---- Which addresses lie in entries ---- */

static bool decode(const struct elf *elf, const struct elf_section *plt, uint64_t address,
                   struct entry *entry)
{
    if (elf->machine == EM_X86_64 || elf->machine == EM_386)
        return decode_x86(elf, plt, address, entry);
    return elf->machine == EM_AARCH64 && plt->size >= 8 && decode_aarch64(elf, plt, address, entry);
}

static bool has_entries(const struct elf *elf, const struct elf_section *section)
{
    /* .plt.got and .plt.sec too */
    return section->type == SHT_PROGBITS && section->offset <= UINT64_MAX - section->size &&
           (elf_is_named(elf, section, ".plt", 4) || elf_is_named(elf, section, ".iplt", 5));
}

/* Only objects have more, and those have no such entries. */
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

    return a->word < b->word ? -1 : a->word > b->word;
}

static void collect(const struct elf *elf, const uint64_t *addresses, size_t count,
                    const struct elf_found *found, struct entries *entries)
{
    const struct elf_section *section = NULL;
    bool is_plt = false;

    for (size_t i = 0; i < count; i++) {
        if (found[i].found)
            continue;
        if (!section || addresses[i] - section->address >= section->size) {
            section = code_section_at(elf, addresses[i]);
            is_plt = section && has_entries(elf, section);
        }
        struct entry *entry = &entries->items[entries->count];
        *entry = (struct entry){.index = i};
        if (is_plt && decode(elf, section, addresses[i], entry))
            entries->count++;
    }
    entries->unclaimed = entries->count;
    if (entries->count)
        qsort(entries->items, entries->count, sizeof(*entries->items), compare_entries);
}

/* ---- Which relocations are theirs ---- */

#define R_AARCH64_IRELATIVE_ 1032 /* not every <elf.h> has it */

/* Functions that choose themselves at the start, as in static programs. */
static bool is_chosen(const struct elf *elf, uint32_t type)
{
    return (elf->machine == EM_X86_64 && type == R_X86_64_IRELATIVE) ||
           (elf->machine == EM_386 && type == R_386_IRELATIVE) ||
           (elf->machine == EM_AARCH64 && type == R_AARCH64_IRELATIVE_);
}

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

static size_t first_with(const struct entries *entries, uint64_t word)
{
    size_t low = 0, high = entries->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (entries->items[middle].word < word)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of several relocations that claim one word the first counts. */
static void take_relocation(const struct elf *elf, struct entries *entries,
                            const unsigned char *relocation, bool has_addend)
{
    const uint64_t word = ELF_FIELD(elf, relocation, Rel, r_offset);
    const uint64_t info = ELF_FIELD(elf, relocation, Rel, r_info);
    struct entry *entry = entries->items + first_with(entries, word);
    struct entry *end = entries->items + entries->count;

    if (entry == end || entry->word != word || entry->is_claimed)
        return;
    const uint64_t symbol = elf->is_64 ? info >> 32 : info >> 8;
    uint64_t chooser = 0;
    if (is_chosen(elf, (uint32_t)(elf->is_64 ? info : info & 0xff)))
        chooser = chooser_of(elf, relocation, has_addend, word);
    for (; entry < end && entry->word == word; entry++) {
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
    found->start = entry->start;
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

/* The function that chooses has the name of what is chosen. */
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
