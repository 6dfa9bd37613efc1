/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/elf_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

/* ---- PLT entries: the stubs through which a file calls functions of others ---- */

/*
 * A PLT entry jumps to an address in a word of data, and a relocation names the function whose
 * address the dynamic linker puts there. So the entry's instructions tell which one it is, whatever
 * linker made it, in whatever order. A stub of MIPS instead passes the number of the function's
 * symbol to the dynamic linker.
 */
struct entry {
    struct machine_plt_entry found; /* first, as entries are sorted by its word */
    size_t index;    /* of the address that is in the entry */
    bool is_claimed; /* a relocation or the entry itself gives */
    uint64_t symbol; /* this symbol, or 0, or */
    uint64_t chooser; /* the IFUNC resolver that chooses the target, or 0 */
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

#define STUBS ".MIPS.stubs"

static bool has_entries(const struct elf *elf, const struct elf_section *section)
{
    /* .plt.got and .plt.sec too */
    return section->type == SHT_PROGBITS && section->offset <= UINT64_MAX - section->size &&
           (elf_is_named(elf, section, ".plt", 4) || elf_is_named(elf, section, ".iplt", 5) ||
            elf_is_named(elf, section, STUBS, sizeof(STUBS)));
}

/* Recognizes an entry of 16 bytes. */
static bool find_entry(const struct machine_plt *plt, uint64_t address, struct entry *entry)
{
    const struct elf *elf = plt->file;
    const struct machine_pair *pair = &elf->row->plt_pair;
    const uint64_t skip = (address - plt->address) & ~(uint64_t)15;
    unsigned char code[16];

    if (plt->size - skip < sizeof(code) || !plt->read(plt, skip, code, sizeof(code)))
        return false;
    const uint32_t upper = elf_get32(elf, code), load = elf_get32(elf, code + 4);
    const uint32_t last = elf_get32(elf, code + 12);
    const unsigned upper_bits = 32 - pair->load_bits;
    entry->found.start = plt->address + skip;
    /*
     * The first and last of a MIPS stub's four instructions: lw or ld $t9, -32752($gp), and li $t8,
     * SYMBOL. Files with 65,536 dynamic symbols or more have five.
     */
    if (elf->row->elf == EM_MIPS && (upper & 0xafffffff) == 0x8f998010 &&
        (last & 0xafff0000) == 0x24180000) {
        entry->symbol = last & 0xffff;
        entry->is_claimed = true;
        return true;
    }
    entry->found.word = (pair->relative ? entry->found.start : 0) +
        (uint64_t)(int32_t)(upper >> pair->upper_at << pair->load_bits) +
        (uint64_t)((int32_t)(load << (upper_bits - pair->load_at)) >> upper_bits);
    return (upper & ~(UINT32_MAX >> pair->load_bits << pair->upper_at)) == pair->upper &&
           (load & ~(UINT32_MAX >> upper_bits << pair->load_at)) == pair->load;
}

/* Only object files have more sections, and no PLT. */
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

static void collect(const struct elf *elf, const uint64_t *addresses, size_t count,
                    const struct elf_found *found, struct entries *entries)
{
    const struct elf_section *section = NULL;
    struct machine_plt plt;
    bool is_plt = false;

    if (!elf->row->plt_entry && !elf->row->plt_pair.load)
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
        if (is_plt && (elf->row->plt_entry ? elf->row->plt_entry(&plt, addresses[i], &entry->found)
                                           : find_entry(&plt, addresses[i], entry))) {
            entries->count++;
            entries->unclaimed += !entry->is_claimed;
        }
    }
    if (entries->count)
        qsort(entries->items, entries->count, sizeof(*entries->items), compare_by_number);
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

/* If several relocations claim a word, the first counts. */
static void take_relocation(const struct elf *elf, struct entries *entries,
                            const unsigned char *relocation, bool has_addend)
{
    const uint64_t word = ELF_FIELD(elf, relocation, Rel, r_offset);
    const uint64_t info = ELF_FIELD(elf, relocation, Rel, r_info);
    struct entry *entry = entries->items + search_first(
        entries->items, entries->count, sizeof(*entries->items), &word, is_below);
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

    return order_of(a->chooser, b->chooser);
}

/* Names an entry after its IFUNC resolver. */
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

/*
 * Names those of the sorted addresses that are in a PLT entry and not found yet: "malloc@plt". As
 * elf_find(), which calls it.
 */
static int elf_plt_find(const struct elf *elf, const uint64_t *addresses, size_t count,
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

/* ---- Symbols at addresses ---- */

/*
 * Bounds the work for tables made to be slow: addresses that symbols cover, and compared names,
 * which each count as NAME_WORK and their bytes. Beyond it, a symbol counts for one address only.
 */
#define MOST_WORK (1 << 26)
#define NAME_WORK 64
/* What a byte of a result costs, as it stays in memory, in bytes that are read. */
#define NAME_COST 4

/* What makes one symbol better than another with the same start. */
#define RANK_STRONG 16 /* typed, sized or visible to other files: not a label in a function */
#define RANK_SIZED 8
#define RANK_TYPED 4
#define RANK_GLOBAL 2
#define RANK_WEAK 1

struct candidate {
    uint64_t start, end; /* of its section, not of the symbol */
    uint32_t name;
    uint8_t table; /* that its name is in */
    uint8_t rank;
    bool any;
};

/* For one address: */
struct slot {
    struct candidate best;    /* of those that cover it */
    struct candidate nearest; /* of strong ones that begin at or before it */
};

struct search {
    const struct elf_symbol_tables *tables;
    const uint64_t *addresses;
    size_t count;
    struct slot *slots;
    /* buckets[b]: the first address not below the b-th part of the range */
    uint32_t *buckets;
    size_t bucket_count;
    unsigned shift;
    uint64_t work;
    struct text names[2];         /* the last two that were compared, */
    struct candidate compared[2]; /* their symbols, */
    bool first_is_better;         /* and the result */
};

/* ---- Which addresses a symbol may cover, fast enough for a million symbols ---- */

static int make_buckets(struct search *search)
{
    const uint64_t least = search->addresses[0];
    const uint64_t range = search->addresses[search->count - 1] - least;
    size_t most = 64;

    while (most < 65536 && most < search->count * 16)
        most *= 2;
    while (range >> search->shift >= most)
        search->shift++;
    search->bucket_count = (size_t)(range >> search->shift) + 1;
    search->buckets = calloc(search->bucket_count + 1, sizeof(*search->buckets));
    if (!search->buckets)
        return -ENOMEM;
    size_t bucket = 0;
    for (size_t i = 0; i < search->count; i++)
        while (bucket <= (search->addresses[i] - least) >> search->shift)
            search->buckets[bucket++] = (uint32_t)i;
    while (bucket <= search->bucket_count)
        search->buckets[bucket++] = (uint32_t)search->count;
    return 0;
}

/* The first address not below `start`; most buckets hold none or one. */
static inline size_t first_in_reach(const struct search *search, uint64_t start)
{
    const uint64_t *addresses = search->addresses;

    if (start <= addresses[0])
        return 0;
    const uint64_t bucket = (start - addresses[0]) >> search->shift;
    if (bucket >= search->bucket_count)
        return search->count;
    const size_t low = search->buckets[bucket], high = search->buckets[bucket + 1];
    return low == high ? low : low + first_not_below(addresses + low, high - low, start);
}

/* ---- Which of two symbols is better ---- */

static bool better_name(const struct text *names)
{
    size_t underscores[2];

    for (int i = 0; i < 2; i++)
        underscores[i] = names[i].length ? strspn(names[i].data, "_") : SIZE_MAX;
    if (underscores[0] != underscores[1])
        return underscores[0] < underscores[1];
    if (names[0].length != names[1].length)
        return names[0].length < names[1].length;
    return names[0].length && strcmp(names[0].data, names[1].data) < 0;
}

static bool same_name(const struct candidate *a, const struct candidate *b)
{
    return a->any && a->name == b->name && a->table == b->table;
}

/* The same two names meet at every address of their function: the result is cached. */
static bool name_wins(struct search *search, const struct candidate *ours,
                      const struct candidate *theirs)
{
    struct candidate *compared = search->compared;

    if (same_name(ours, theirs))
        return false;
    if (same_name(&compared[0], ours) && same_name(&compared[1], theirs))
        return search->first_is_better;
    if (search->work > MOST_WORK)
        return false;
    search->work += NAME_WORK;
    compared[0] = *ours;
    compared[1] = *theirs;
    for (int i = 0; i < 2; i++) {
        int result = elf_read_name(&search->tables->items[compared[i].table], compared[i].name,
                                   &search->names[i]);
        search->work += search->names[i].length;
        if (result)
            text_clear(&search->names[i]);
    }
    search->first_is_better = better_name(search->names);
    return search->first_is_better;
}

static void offer(struct search *search, struct candidate *held, const struct candidate *candidate)
{
    if (held->any) {
        const uint8_t strong = candidate->rank & RANK_STRONG;
        if (strong != (held->rank & RANK_STRONG)) {
            if (!strong)
                return;
        } else if (candidate->start != held->start) {
            if (candidate->start < held->start)
                return;
        } else if (candidate->rank != held->rank) {
            if (candidate->rank < held->rank)
                return;
        } else if (!name_wins(search, candidate, held)) {
            return;
        }
    }
    *held = *candidate;
}

static uint8_t rank_of(const struct elf_entry *entry)
{
    uint8_t rank = entry->binding == STB_LOCAL ? 0
        : entry->binding == STB_WEAK           ? RANK_WEAK
                                               : RANK_GLOBAL;

    if (entry->type != STT_NOTYPE)
        rank |= RANK_TYPED;
    if (entry->size)
        rank |= RANK_SIZED;
    return rank ? rank | RANK_STRONG : 0;
}

/* ---- One pass over a table ---- */

static int offer_entry(void *context, const struct elf_symbol_table *table,
                       const struct elf_entry *entry)
{
    struct search *search = context;
    const size_t first = first_in_reach(search, entry->address);
    uint64_t end;

    if (first == search->count)
        return 0;
    if (__builtin_add_overflow(entry->address, entry->size + !entry->size, &end))
        end = UINT64_MAX;
    struct slot *slot = &search->slots[first];
    const bool covers = search->addresses[first] < end;
    /* In a table that may lack functions, an unsized symbol must not reach up to the next one. */
    const bool is_near = search->tables->is_full &&
                         (!slot->nearest.any || entry->address >= slot->nearest.start);
    struct candidate candidate = {entry->address, 0, entry->name,
                                  (uint8_t)(table - search->tables->items), rank_of(entry), true};
    if ((!covers && !is_near) || !elf_is_code(table->elf, entry, &candidate.end))
        return 0;
    if (is_near && candidate.rank & RANK_STRONG)
        offer(search, &slot->nearest, &candidate);
    for (size_t i = first; i < search->count && search->addresses[i] < end; i++) {
        offer(search, &search->slots[i].best, &candidate);
        if (++search->work > MOST_WORK)
            break;
    }
    return 0;
}

/* A symbol without a size reaches up to the next function; a label does not. */
static const struct candidate *winner(const struct search *search, size_t i)
{
    const struct slot *slot = &search->slots[i];
    const struct candidate *nearest = &slot->nearest;

    if (slot->best.any && slot->best.rank & RANK_STRONG)
        return &slot->best;
    if (nearest->any && !(nearest->rank & RANK_SIZED) && search->addresses[i] < nearest->end)
        return nearest;
    return slot->best.any ? &slot->best : NULL;
}

static int name_found(const struct search *search, const struct candidate *candidate,
                      struct elf_found *found)
{
    const struct elf_entry entry = {
        .type = candidate->rank & RANK_TYPED ? STT_FUNC : STT_NOTYPE,
    };
    const struct elf_symbol_table *table = &search->tables->items[candidate->table];
    int result = elf_read_name(table, candidate->name, &found->name);

    if (result)
        return result == -ENOEXEC ? 0 : result;
    if (found->name.length && !elf_is_mark(table->elf, &entry, found->name.data)) {
        found->found = true;
        found->start = candidate->start;
    }
    return 0;
}

static int name_all(const struct search *search, const size_t *where, struct elf_found *found)
{
    const struct candidate *last = NULL;
    int result = 0;

    for (size_t i = 0; i < search->count && !result; i++) {
        struct slot *slot = &search->slots[i];
        if (i && !slot->nearest.any)
            slot->nearest = slot[-1].nearest;
        const struct candidate *candidate = winner(search, i);
        struct elf_found *to = &found[where[i]];
        if (candidate && last && same_name(candidate, last) && candidate->start == last->start) {
            const struct elf_found *from = &found[where[i - 1]];
            text_append(&to->name, from->name.data, from->name.length);
            to->found = from->found;
            to->start = from->start;
            result = to->name.failed ? -ENOMEM : 0;
        } else if (candidate) {
            result = name_found(search, candidate, to);
        }
        last = candidate;
        /* A table may give every address the same long name. */
        if (!result && candidate)
            result = elf_spend(search->tables->items[candidate->table].elf,
                               (uint64_t)to->name.length * NAME_COST);
    }
    return result;
}

/* ---- Tables used as one, then others ---- */

/* The addresses without a name, and their positions. */
struct wanted {
    uint64_t *addresses;
    size_t *where, count;
};

static int find_in_tables(const struct elf_symbol_tables *tables, const struct wanted *wanted,
                          struct elf_found *found)
{
    struct search search = {
        .tables = tables,
        .addresses = wanted->addresses,
        .count = wanted->count,
        .slots = calloc(wanted->count, sizeof(*search.slots)),
    };
    int result = search.slots ? make_buckets(&search) : -ENOMEM;

    for (size_t i = 0; i < tables->count && !result; i++)
        result = elf_each_entry(&tables->items[i], offer_entry, &search);
    if (!result)
        result = name_all(&search, wanted->where, found);
    free(search.slots);
    free(search.buckets);
    text_free(&search.names[0]);
    text_free(&search.names[1]);
    return result == -ENOEXEC ? 0 : result;
}

static bool collect_wanted(struct wanted *wanted, const uint64_t *addresses, size_t count,
                           const struct elf_found *found)
{
    wanted->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (found[i].found)
            continue;
        wanted->addresses[wanted->count] = addresses[i];
        wanted->where[wanted->count++] = i;
    }
    return wanted->count;
}

static int find_symbols(const struct elf *elf, bool dynamic_only, const uint64_t *addresses,
                        size_t count, struct elf_found *found)
{
    struct elf_symbol_tables tables = {0};
    struct wanted wanted = {calloc(count + 1, sizeof(*addresses)),
                            calloc(count + 1, sizeof(*wanted.where)), 0};
    int result = wanted.addresses && wanted.where ? 0 : -ENOMEM;

    if (!result && !dynamic_only && collect_wanted(&wanted, addresses, count, found)) {
        elf_symbol_tables_open(elf, &tables);
        if (tables.count)
            result = find_in_tables(&tables, &wanted, found);
        elf_symbol_tables_close(&tables);
        /* In an edited file .dynsym may have symbols that those tables lack. */
        dynamic_only = tables.is_full;
        tables = (struct elf_symbol_tables){0};
    }
    if (!result && dynamic_only && collect_wanted(&wanted, addresses, count, found) &&
        elf_dynamic_symbols(elf, &tables.items[0])) {
        tables.count = 1;
        result = find_in_tables(&tables, &wanted, found);
    }
    free(wanted.addresses);
    free(wanted.where);
    return result;
}

int elf_find_symbols(const struct elf *elf, const uint64_t *addresses, size_t count,
                     struct elf_found *found)
{
    return find_symbols(elf, false, addresses, count, found);
}

int elf_find(const struct elf *elf, const uint64_t *addresses, size_t count,
             struct elf_found *found)
{
    int result = find_symbols(elf, false, addresses, count, found);

    return result ? result : elf_plt_find(elf, addresses, count, found);
}

int elf_find_rest(const struct elf *elf, const uint64_t *addresses, size_t count,
                  struct elf_found *found)
{
    int result = find_symbols(elf, true, addresses, count, found);

    return result ? result : elf_plt_find(elf, addresses, count, found);
}

void elf_found_free(struct elf_found *found, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_free(&found[i].name);
}
