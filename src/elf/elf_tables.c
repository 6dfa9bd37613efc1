/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/elf_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "elf/elf_unpacked.h"

#define PIECE_BYTES 65536
/* More than any table has: a sparse file may claim any size. */
#define MOST_TABLE_BYTES ((uint64_t)1 << 30)
#define MOST_DYNAMIC 4096
#define MOST_BUCKETS (1 << 22)

/* ---- Pieces ---- */

int elf_pieces_open(struct elf_pieces *pieces, const struct elf *elf,
                    const struct elf_table *table)
{
    *pieces = (struct elf_pieces){.elf = elf, .left = *table, .bytes = malloc(PIECE_BYTES)};
    if (pieces->left.size > MOST_TABLE_BYTES)
        pieces->left.size = MOST_TABLE_BYTES;
    return pieces->bytes ? 0 : elf_note_trouble(elf, -ENOMEM);
}

bool elf_pieces_next(struct elf_pieces *pieces)
{
    struct elf_table *left = &pieces->left;
    uint64_t count = PIECE_BYTES / left->entry_size;

    if (left->size / left->entry_size < count)
        count = left->size / left->entry_size;
    if (!count || pieces->error)
        return false;
    const size_t size = (size_t)(count * left->entry_size);
    pieces->error = elf_read(pieces->elf, left->offset, pieces->bytes, size);
    left->offset += size;
    left->size -= size;
    pieces->count = (size_t)count;
    return !pieces->error;
}

void elf_pieces_close(struct elf_pieces *pieces)
{
    free(pieces->bytes);
    pieces->bytes = NULL;
}

bool elf_table_of(const struct elf_section *section, size_t least, struct elf_table *table)
{
    if (section->type == SHT_NOBITS || section->flags & SHF_COMPRESSED)
        return false;
    *table = (struct elf_table){section->offset, section->size,
                                section->entry_size ? section->entry_size : least};
    return table->entry_size >= least && table->entry_size <= PIECE_BYTES / 16 &&
           table->offset <= UINT64_MAX - table->size;
}

/* ---- Symbol tables ---- */

static bool symbols_of_section(const struct elf *elf, uint32_t type, struct elf_symbol_table *table)
{
    const struct elf_section *section = elf_section_of_type(elf, type), *names;

    *table = (struct elf_symbol_table){.elf = elf};
    if (!section || section->link >= elf->section_count)
        return false;
    names = &elf->sections[section->link];
    if (type == SHT_SYMTAB && (section->flags | names->flags) & SHF_COMPRESSED &&
        elf_unpack_symbols(elf, section, names)) {
        section = &elf->unpacked->symbols;
        names = &elf->unpacked->names;
    }
    if (!elf_table_of(section, ELF_SIZE(elf, Sym), &table->symbols))
        return false;
    table->names = names->offset;
    table->names_size = names->size;
    return names->type == SHT_STRTAB && !(names->flags & SHF_COMPRESSED) &&
           names->offset <= UINT64_MAX - names->size;
}

bool elf_full_symbols(const struct elf *elf, struct elf_symbol_table *table)
{
    return symbols_of_section(elf, SHT_SYMTAB, table);
}

/* What PT_DYNAMIC says about symbols: addresses and sizes. */
struct dynamic {
    uint64_t symbols, names, names_size, entry_size, hash, gnu_hash;
};

static uint64_t *place_of_tag(struct dynamic *dynamic, uint64_t tag)
{
    switch (tag) {
    case DT_SYMTAB: return &dynamic->symbols;
    case DT_STRTAB: return &dynamic->names;
    case DT_STRSZ: return &dynamic->names_size;
    case DT_SYMENT: return &dynamic->entry_size;
    case DT_HASH: return &dynamic->hash;
    case DT_GNU_HASH: return &dynamic->gnu_hash;
    }
    return NULL;
}

static int read_dynamic(const struct elf *elf, struct dynamic *dynamic)
{
    const size_t size = ELF_SIZE(elf, Dyn);
    uint64_t count = elf->dynamic.file_size / size;
    int result = 0;

    for (uint64_t i = 0; i < count && i < MOST_DYNAMIC && !result; i++) {
        unsigned char entry[sizeof(Elf64_Dyn)];
        if (elf->dynamic.offset > UINT64_MAX - i * size)
            return -ENOEXEC;
        result = elf_read(elf, elf->dynamic.offset + i * size, entry, size);
        if (result)
            break;
        const uint64_t tag = ELF_FIELD(elf, entry, Dyn, d_tag);
        if (tag == DT_NULL)
            break;
        uint64_t *place = place_of_tag(dynamic, tag);
        if (place)
            *place = ELF_FIELD(elf, entry, Dyn, d_un.d_val);
    }
    return result;
}

/*
 * The last symbol is at the end of the chain that the greatest first symbol of DT_GNU_HASH's
 * buckets begins.
 */
static uint64_t count_by_gnu_hash(const struct elf *elf, uint64_t offset)
{
    unsigned char header[16];
    struct elf_pieces pieces;
    uint64_t last = 0;

    if (elf_read(elf, offset, header, sizeof(header)))
        return 0;
    const uint64_t buckets = elf_get32(elf, header), first = elf_get32(elf, header + 4);
    const uint64_t bloom = (uint64_t)elf_get32(elf, header + 8) * elf_word_size(elf);
    struct elf_table table = {offset + sizeof(header) + bloom, buckets * 4, 4};
    if (buckets > MOST_BUCKETS || elf_pieces_open(&pieces, elf, &table))
        return 0;
    while (elf_pieces_next(&pieces))
        for (size_t i = 0; i < pieces.count; i++)
            if (elf_get32(elf, pieces.bytes + i * 4) > last)
                last = elf_get32(elf, pieces.bytes + i * 4);
    elf_pieces_close(&pieces);
    if (last < first)
        return first; /* none is hashed: the others come before those */
    table = (struct elf_table){table.offset + table.size + (last - first) * 4, MOST_TABLE_BYTES, 4};
    /* One by one: chains are short, and the end of the file may be near. */
    for (; !elf_read(elf, table.offset, header, 4); table.offset += 4, last++)
        if (elf_get32(elf, header) & 1 || last >= MOST_TABLE_BYTES / sizeof(Elf32_Sym))
            return last + 1;
    return 0;
}

static uint64_t count_by_hash(const struct elf *elf, uint64_t offset)
{
    size_t word = elf->is_64 && elf->row->wide_hash ? 8 : 4;
    unsigned char header[16];

    if (elf_read(elf, offset, header, word * 2))
        return 0;
    return elf_get(elf, header + word, word);
}

static bool symbols_of_segment(const struct elf *elf, struct elf_symbol_table *table)
{
    struct dynamic dynamic = {0};
    uint64_t symbols, hash, count = 0;

    if (read_dynamic(elf, &dynamic) || !elf_offset_of(elf, dynamic.symbols, &symbols) ||
        !elf_offset_of(elf, dynamic.names, &table->names))
        return false;
    if (dynamic.hash && elf_offset_of(elf, dynamic.hash, &hash))
        count = count_by_hash(elf, hash);
    else if (dynamic.gnu_hash && elf_offset_of(elf, dynamic.gnu_hash, &hash))
        count = count_by_gnu_hash(elf, hash);
    if (!dynamic.entry_size)
        dynamic.entry_size = ELF_SIZE(elf, Sym);
    if (dynamic.entry_size < ELF_SIZE(elf, Sym) || dynamic.entry_size > PIECE_BYTES / 16 ||
        count > MOST_TABLE_BYTES / dynamic.entry_size)
        return false;
    table->names_size = dynamic.names_size;
    table->symbols = (struct elf_table){symbols, count * dynamic.entry_size, dynamic.entry_size};
    return count && symbols <= UINT64_MAX - table->symbols.size &&
           table->names <= UINT64_MAX - table->names_size;
}

bool elf_dynamic_symbols(const struct elf *elf, struct elf_symbol_table *table)
{
    if (symbols_of_section(elf, SHT_DYNSYM, table))
        return true;
    /* Only without sections: the segments of a separate debug file are not in it. */
    *table = (struct elf_symbol_table){.elf = elf};
    return !elf->section_count && symbols_of_segment(elf, table);
}

void elf_symbol_tables_open(const struct elf *elf, struct elf_symbol_tables *tables)
{
    tables->count = 0;
    tables->image = (struct elf){.fd = -1};
    tables->is_full = elf_full_symbols(elf, &tables->items[0]);
    if (tables->is_full) {
        tables->count = 1;
        return;
    }
    if (elf_dynamic_symbols(elf, &tables->items[0]))
        tables->count = 1;
    if (elf_unpack_image(elf, &tables->image) &&
        elf_full_symbols(&tables->image, &tables->items[tables->count])) {
        tables->count++;
        tables->is_full = true;
    }
}

void elf_symbol_tables_close(struct elf_symbol_tables *tables)
{
    elf_close(&tables->image);
}

/* ---- Entries ---- */

/* A million of them are read at once: not with ELF_FIELD. */
bool elf_get_entry(const struct elf *elf, const unsigned char *bytes, struct elf_entry *entry)
{
    uint8_t info, other;

    if (elf->is_64) {
        Elf64_Sym symbol;
        memcpy(&symbol, bytes, sizeof(symbol));
        *entry = (struct elf_entry){symbol.st_value, symbol.st_size, symbol.st_name,
                                    symbol.st_shndx, 0, 0, 0, false};
        info = symbol.st_info;
        other = symbol.st_other;
    } else {
        Elf32_Sym symbol;
        memcpy(&symbol, bytes, sizeof(symbol));
        *entry = (struct elf_entry){symbol.st_value, symbol.st_size, symbol.st_name,
                                    symbol.st_shndx, 0, 0, 0, false};
        info = symbol.st_info;
        other = symbol.st_other;
    }
    entry->type = info & 15;
    if ((entry->type != STT_FUNC && entry->type != STT_NOTYPE && entry->type != STT_GNU_IFUNC) ||
        !entry->section || !entry->name)
        return false;
    entry->binding = info >> 4;
    if (elf->swapped) {
        entry->address = elf->is_64 ? __builtin_bswap64(entry->address)
                                    : __builtin_bswap32((uint32_t)entry->address);
        entry->size = elf->is_64 ? __builtin_bswap64(entry->size)
                                 : __builtin_bswap32((uint32_t)entry->size);
        entry->name = __builtin_bswap32(entry->name);
        entry->section = __builtin_bswap16(entry->section);
    }
    if (elf->row->marks.thumb && entry->type != STT_NOTYPE) {
        entry->is_thumb = entry->address & 1;
        entry->address &= ~(uint64_t)1;
    }
    if (elf->row->local_entries)
        entry->entry = (uint8_t)(1 << (other >> 5) >> 2 << 2); /* ELFv2: 0, 1: 0; 2 to 6: 4 to 64 */
    return true;
}

bool elf_is_code(const struct elf *elf, const struct elf_entry *entry, uint64_t *end)
{
    if (entry->section < SHN_LORESERVE && entry->section < elf->section_count) {
        const struct elf_section *section = &elf->sections[entry->section];
        *end = section->address + section->size;
        return section->flags & SHF_EXECINSTR;
    }
    /* An absolute symbol need not be an address. */
    if (entry->section >= SHN_LORESERVE && entry->section != SHN_XINDEX)
        return false;
    const struct elf_segment *segment = elf_code_at(elf, entry->address);
    if (segment)
        *end = segment->address + segment->memory_size;
    return segment;
}

bool elf_is_mark(const struct elf *elf, const struct elf_entry *entry, const char *name)
{
    if (entry->type != STT_NOTYPE)
        return false;
    if (name[0] == '.' && name[1] == 'L')
        return true;
    return name[0] == '$' && elf->row->marks.code;
}

/* ---- Names ---- */

/* "memcpy@@GLIBC_2.14" is memcpy. */
void elf_cut_version(struct text *name)
{
    char *at = name->length ? memchr(name->data + 1, '@', name->length - 1) : NULL;

    if (!at)
        return;
    *at = '\0';
    name->length = (size_t)(at - name->data);
}

int elf_read_name(const struct elf_symbol_table *table, uint32_t place, struct text *name)
{
    char piece[256];

    text_clear(name);
    text_add(name, "");
    if (place >= table->names_size)
        return -ENOEXEC;
    for (uint64_t at = place;;) {
        size_t size = sizeof(piece);
        if (table->names_size - at < size)
            size = (size_t)(table->names_size - at);
        int result = size ? elf_read(table->elf, table->names + at, piece, size) : -ENOEXEC;
        if (result)
            return result;
        size_t length = strnlen(piece, size);
        if (length && name->length >= ELF_LONGEST_NAME) {
            /* A cut name might otherwise read as another: of a function with fewer parameters. */
            text_add(name, "...");
            break;
        }
        text_append(name, piece, length);
        if (length < size)
            break;
        at += size;
    }
    elf_cut_version(name);
    return name->failed ? -ENOMEM : 0;
}
