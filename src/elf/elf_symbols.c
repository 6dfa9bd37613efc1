/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/elf_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/util.h"

/* ---- Tables ---- */

#define PIECE_BYTES 65536
/* More than any table has: a sparse file may claim any size. */
#define MOST_TABLE_BYTES ((uint64_t)1 << 30)
#define MOST_BUCKETS (1 << 22)

int elf_pieces_open(struct elf_pieces *pieces, const struct elf *elf, const struct elf_table *table)
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

static int read_dynamic(const struct elf *elf, struct dynamic *dynamic)
{
    for (uint64_t i = 0, tag, value;; i++) {
        const int result = elf_dynamic_entry(elf, i, &tag, &value);
        if (result)
            return result;
        switch (tag) {
        case DT_NULL: return 0;
        case DT_SYMTAB: dynamic->symbols = value; break;
        case DT_STRTAB: dynamic->names = value; break;
        case DT_STRSZ: dynamic->names_size = value; break;
        case DT_SYMENT: dynamic->entry_size = value; break;
        case DT_HASH: dynamic->hash = value; break;
        case DT_GNU_HASH: dynamic->gnu_hash = value; break;
        }
    }
}

/*
 * The greatest first symbol of DT_GNU_HASH's buckets begins the chain that ends with the last
 * symbol.
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
        return first; /* none is hashed: unhashed symbols come before hashed ones */
    table = (struct elf_table){table.offset + table.size + (last - first) * 4, MOST_TABLE_BYTES, 4};
    /* Word by word: chains are short, and the file may end soon. */
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
    /* Only without sections: a separate debug file does not contain the segment's bytes. */
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

/* Not with ELF_FIELD, as a pass decodes a million of them. */
bool elf_get_entry(const struct elf *elf, const unsigned char *bytes, struct elf_entry *entry)
{
    Elf64_Sym symbol;
    Elf32_Sym narrow;

    if (elf->is_64) {
        memcpy(&symbol, bytes, sizeof(symbol));
    } else {
        memcpy(&narrow, bytes, sizeof(narrow));
        symbol = (Elf64_Sym){narrow.st_name, narrow.st_info, narrow.st_other,
                             narrow.st_shndx, narrow.st_value, narrow.st_size};
    }
    *entry = (struct elf_entry){symbol.st_value, symbol.st_size, symbol.st_name, symbol.st_shndx,
                                symbol.st_info & 15, symbol.st_info >> 4, 0, false};
    if ((entry->type != STT_FUNC && entry->type != STT_NOTYPE && entry->type != STT_GNU_IFUNC) ||
        !entry->section || !entry->name)
        return false;
    if (elf->swapped) {
        entry->address = elf->is_64 ? __builtin_bswap64(entry->address)
                                    : __builtin_bswap32((uint32_t)entry->address);
        entry->size = elf->is_64 ? __builtin_bswap64(entry->size)
                                 : __builtin_bswap32((uint32_t)entry->size);
        entry->name = __builtin_bswap32(entry->name);
        entry->section = __builtin_bswap16(entry->section);
    }
    if (elf->has_thumb && entry->type != STT_NOTYPE) {
        entry->is_thumb = entry->address & 1 || (elf->row->compressed && symbol.st_other & 0x80);
        entry->address &= ~(uint64_t)1;
    }
    if (elf->row->local_entries) /* ELFv2: 0, 1: 0; 2 to 6: 4 to 64 */
        entry->entry = (uint8_t)(1 << (symbol.st_other >> 5) >> 2 << 2);
    return true;
}

int elf_each_entry(const struct elf_symbol_table *table, elf_entry_callback *each, void *context)
{
    struct elf_pieces pieces;
    struct elf_entry entry;
    int result = elf_pieces_open(&pieces, table->elf, &table->symbols);

    if (result)
        return result;
    while (!result && elf_pieces_next(&pieces))
        for (size_t i = 0; i < pieces.count && !result; i++)
            if (elf_get_entry(table->elf, pieces.bytes + i * pieces.left.entry_size, &entry))
                result = each(context, table, &entry);
    elf_pieces_close(&pieces);
    return result ? result : pieces.error;
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
        return name_list_has("_MIPS_STUBS_\0" "_PROCEDURE_LINKAGE_TABLE_\0", name);
    if (name[0] == '.' && name[1] == 'L')
        return true;
    return name[0] == '$' && elf->row->marks.code;
}

/* ---- Names ---- */

/* Cuts "memcpy@@GLIBC_2.14" to "memcpy". */
static void elf_cut_version(struct text *name)
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
            /* Marks the cut: the rest could read as a function with fewer parameters. */
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

/* ---- Functions ---- */

/* Linkers mostly write names in the order of the symbols: the next one is near. */
struct window {
    const struct elf_symbol_table *table;
    uint64_t from;
    size_t length;
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
    return elf_read_name(table, place, name);
}

/*
 * Functions already delivered, by a hash of address and name. .gnu_debugdata may repeat some of
 * .dynsym: its makers leave out names of .dynsym, but names there may have a version.
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
    if (ARRAY_RESERVE(given->numbers, given->room, given->count + 1))
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
    struct text name;
    uint64_t long_names, reach; /* bytes of those; the end of the last name in the file */
};

/*
 * A table made to cost memory gives many symbols one long name. Linkers let names share bytes, too,
 * but not most of them.
 */
#define LONG_NAME 64
#define MOST_SHARED 16

static int give(void *context, const struct elf_symbol_table *table, const struct elf_entry *entry)
{
    struct giving *giving = context;
    const struct text *name = &giving->name;
    uint64_t end;

    if (!elf_is_code(table->elf, entry, &end))
        return 0;
    int result = read_name(&giving->window, entry->name, &giving->name);
    if (result)
        return result == -ENOEXEC ? 0 : result;
    if (giving->reach < (uint64_t)entry->name + name->length)
        giving->reach = (uint64_t)entry->name + name->length;
    if (name->length > LONG_NAME)
        giving->long_names += name->length;
    if (!name->length || elf_is_mark(table->elf, entry, name->data) ||
        (name->length > LONG_NAME && giving->long_names / MOST_SHARED > giving->reach))
        return 0;
    const struct elf_symbol symbol = {name->data, entry->address, entry->size, entry->type,
                                      entry->binding, entry->entry};
    if (!giving->is_first && was_given(&giving->given, &symbol))
        return 0;
    result = giving->is_last ? 0 : note_given(&giving->given, &symbol);
    return result ? result : giving->each(giving->context, &symbol);
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
        giving->window.table = &tables.items[i];
        giving->window.from = giving->window.length = 0;
        giving->long_names = giving->reach = 0;
        result = elf_each_entry(&tables.items[i], give, giving);
        giving->given.count = sort_numbers(giving->given.numbers, giving->given.count);
    }
    elf_symbol_tables_close(&tables);
    free(giving->given.numbers);
    text_free(&giving->name);
    free(giving);
    return result < 0 ? result : 0;
}

/* ---- ARM's two kinds of code ---- */

#define MARKS_KNOWN 4

/* The nearest mark or function at or before an address. */
struct sight {
    uint64_t start, end;
    enum arm_code code;
};

struct looking {
    const uint64_t *addresses;
    size_t count;
    struct sight *marks, *functions;
    /* A cache: a file has thousands of marks, most of which share a few names. */
    uint32_t known[MARKS_KNOWN]; /* places of names; 0: none */
    enum arm_code known_codes[MARKS_KNOWN];
    size_t next_known;
    struct text name;
};

static void note(const struct looking *looking, struct sight *sights, const struct sight *seen)
{
    size_t at = first_not_below(looking->addresses, looking->count, seen->start);

    if (at == looking->count || looking->addresses[at] >= seen->end)
        return;
    struct sight *sight = &sights[at];
    if (sight->code && sight->start > seen->start)
        return;
    /* If two begin at the same place, the one that forbids probes wins. */
    if (!sight->code || sight->start < seen->start || seen->code != ARM_CODE_ARM)
        *sight = *seen;
}

/* A mark or function also covers later addresses, up to a nearer one. */
static void spread(const struct looking *looking, struct sight *sights)
{
    for (size_t i = 1; i < looking->count; i++)
        if ((!sights[i].code || sights[i].start < sights[i - 1].start) && sights[i - 1].code &&
            looking->addresses[i] < sights[i - 1].end)
            sights[i] = sights[i - 1];
}

/* "$t", "$a.1" */
static enum arm_code code_of_mark(const struct elf *elf, const char *name)
{
    const struct machine *row = elf->row;

    if (name[0] != '$' || !name[1] || (name[2] && name[2] != '.'))
        return ARM_CODE_UNKNOWN;
    return name[1] == row->marks.code    ? ARM_CODE_ARM
           : name[1] == row->marks.thumb ? ARM_CODE_THUMB
           : name[1] == row->marks.data  ? ARM_CODE_DATA
                                         : ARM_CODE_UNKNOWN;
}

static int read_mark(struct looking *looking, const struct elf_symbol_table *table, uint32_t place,
                     enum arm_code *code)
{
    for (size_t i = 0; i < MARKS_KNOWN; i++)
        if (looking->known[i] == place) {
            *code = looking->known_codes[i];
            return 0;
        }
    int result = elf_read_name(table, place, &looking->name);
    *code = result ? ARM_CODE_UNKNOWN : code_of_mark(table->elf, looking->name.data);
    if (*code) {
        looking->known[looking->next_known] = place;
        looking->known_codes[looking->next_known++] = *code;
        looking->next_known %= MARKS_KNOWN;
    }
    return result == -ENOEXEC ? 0 : result;
}

static int take_entry(void *context, const struct elf_symbol_table *table,
                      const struct elf_entry *entry)
{
    struct looking *looking = context;
    struct sight seen = {.start = entry->address};
    int result = 0;

    if (!elf_is_code(table->elf, entry, &seen.end))
        return 0;
    if (entry->type == STT_NOTYPE) {
        result = read_mark(looking, table, entry->name, &seen.code);
        if (seen.code)
            note(looking, looking->marks, &seen);
        return result;
    }
    seen.code = entry->is_thumb ? ARM_CODE_THUMB : ARM_CODE_ARM;
    seen.end = entry->address + (entry->size ? entry->size : 1);
    note(looking, looking->functions, &seen);
    return 0;
}

static enum arm_code judge(const struct elf *elf, uint64_t address, enum arm_code mark,
                           enum arm_code function)
{
    if (mark == ARM_CODE_DATA)
        return ARM_CODE_DATA;
    if (mark == ARM_CODE_THUMB || function == ARM_CODE_THUMB || address % elf->row->instruction)
        return ARM_CODE_THUMB;
    return mark ? mark : function;
}

int elf_arm_codes(const struct elf *elf, const uint64_t *addresses, size_t count,
                  enum arm_code *codes)
{
    struct looking looking = {
        .addresses = addresses, .count = count,
        .marks = calloc(count + 1, sizeof(*looking.marks)),
        .functions = calloc(count + 1, sizeof(*looking.functions)),
    };
    struct elf_symbol_tables tables;
    int result = looking.marks && looking.functions ? 0 : -ENOMEM;

    elf_symbol_tables_open(elf, &tables);
    for (size_t i = 0; i < tables.count && !result; i++) {
        memset(looking.known, 0, sizeof(looking.known)); /* the names of another table */
        result = elf_each_entry(&tables.items[i], take_entry, &looking);
        if (result == -ENOEXEC)
            result = 0; /* what was read counts */
    }
    elf_symbol_tables_close(&tables);
    if (!result) {
        spread(&looking, looking.marks);
        spread(&looking, looking.functions);
        for (size_t i = 0; i < count; i++)
            codes[i] = judge(elf, addresses[i], looking.marks[i].code, looking.functions[i].code);
    }
    free(looking.marks);
    free(looking.functions);
    text_free(&looking.name);
    return result;
}
