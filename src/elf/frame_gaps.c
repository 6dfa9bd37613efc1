/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/frame_entries.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "elf/elf_symbols.h"

/* The rule of a function that has saved nothing, on machines with a link register. */
static const struct unwind_rule linked = {
    .cfa = UNWIND_BY_SP, .return_kind = UNWIND_RETURN_IN_LINK, .base = UNWIND_BASE_SAME,
};

/* Adds a row at this distance from the gap's beginning. */
static void add_row(struct frame_gap *gap, uint64_t distance, struct unwind_rule rule)
{
    gap->rows[gap->count].offset = gap->offset + distance;
    gap->rows[gap->count++].rule = rule;
}

/* Sets the gap's place in the file. False: not all of it is code. */
static bool place_gap(const struct elf *elf, uint64_t address, uint64_t size, struct frame_gap *gap)
{
    gap->size = size;
    return elf_code_offset(elf, address, size, &gap->offset);
}

/* The offset of these eight bytes of code within `size` bytes from `offset` on; 0: none. */
static uint64_t find_code(const struct elf *elf, uint64_t code, uint64_t offset, uint64_t size)
{
    unsigned char *bytes = malloc((size_t)size);
    uint64_t found = 0;

    if (bytes && !elf_read(elf, offset, bytes, (size_t)size))
        for (uint64_t at = 0; at + sizeof(code) <= size && !found; at++)
            if (bytes[at] == (code & 0xff) && elf_get64(elf, bytes + at) == code)
                found = offset + at;
    free(bytes);
    return found;
}

/* ---- Go: it keeps frame pointers and has no tables ---- */

/* The first word, which tells versions apart: 1.2, 1.16, 1.18, 1.20. */
#define MAGIC_2  0xfffffffb
#define MAGIC_16 0xfffffffa
#define MAGIC_18 0xfffffff0
#define MAGIC_20 0xfffffff1

#define HEADER_BYTES 8 /* magic, two zeros, least instruction's and a pointer's size; then words */
#define MOST_WORDS 8

/* What the words are. */
enum {
    COUNT = 0,      /* of functions */
    TEXT_18 = 2,    /* where they begin */
    TABLE_16 = 6,   /* where in the section the function table is; in 1.2 right after the count */
    TABLE_18 = 7,
};

struct table {
    const struct elf *elf;
    uint64_t offset, size; /* in the file, of what contains it, from its start on */
    uint32_t magic;
    uint64_t words[MOST_WORDS];
};

static bool read_at(const struct table *table, uint64_t at, void *to, size_t size)
{
    return at <= table->size && size <= table->size - at &&
           !elf_read(table->elf, table->offset + at, to, size);
}

static bool is_magic(const struct elf *elf, const unsigned char *bytes)
{
    const uint32_t magic = elf_get32(elf, bytes);

    return (magic == MAGIC_20 || magic == MAGIC_18 || magic == MAGIC_16 || magic == MAGIC_2) &&
           !bytes[4] && !bytes[5] && bytes[7] == elf_word_size(elf);
}

/* Opens a table that begins `from` bytes after the start of a section. */
static bool open_table(struct table *table, const struct elf *elf,
                       const struct elf_section *section, uint64_t from)
{
    unsigned char bytes[HEADER_BYTES + MOST_WORDS * 8];
    const size_t word = elf_word_size(elf);

    if (section->type == SHT_NOBITS || from > section->size ||
        __builtin_add_overflow(section->offset, from, &table->offset))
        return false;
    table->elf = elf;
    table->size = section->size - from;
    if (!read_at(table, 0, bytes, HEADER_BYTES + MOST_WORDS * word) || !is_magic(elf, bytes))
        return false;
    table->magic = elf_get32(elf, bytes);
    for (size_t i = 0; i < MOST_WORDS; i++)
        table->words[i] = elf_get_word(elf, bytes + HEADER_BYTES + i * word);
    return table->words[COUNT] > 0 && table->words[COUNT] <= table->size;
}

/* The address in entry `number`, which has two numbers of `size` bytes. */
static bool read_entry(const struct table *table, uint64_t start, uint64_t number, size_t size,
                       uint64_t *value)
{
    unsigned char bytes[8];

    if (start > table->size || !read_at(table, start + number * 2 * size, bytes, size))
        return false;
    *value = elf_get(table->elf, bytes, size);
    return true;
}

/* The last entry is past the last function. */
static bool read_bounds(const struct table *table, uint64_t *first, uint64_t *last)
{
    const size_t word = elf_word_size(table->elf);
    const uint64_t count = table->words[COUNT];
    const struct elf_section *text;

    switch (table->magic) {
    case MAGIC_20:
    case MAGIC_18:
        *first = table->words[TEXT_18];
        if (!*first) { /* a relocation sets it: in pure Go files it is .text */
            text = elf_section(table->elf, ".text");
            if (!text || elf_section(table->elf, ".eh_frame"))
                return false;
            *first = text->address;
        }
        if (!read_entry(table, table->words[TABLE_18], count, 4, last))
            return false;
        *last += *first;
        return true;
    case MAGIC_16:
        return read_entry(table, table->words[TABLE_16], 0, word, first) &&
               read_entry(table, table->words[TABLE_16], count, word, last);
    case MAGIC_2:
        return read_entry(table, HEADER_BYTES + word, 0, word, first) &&
               read_entry(table, HEADER_BYTES + word, count, word, last);
    }
    return false;
}

static bool find_text(const struct table *table, uint64_t *address, uint64_t *size)
{
    uint64_t last, offset;

    if (!read_bounds(table, address, &last) || last <= *address)
        return false;
    *size = last - *address;
    return elf_code_offset(table->elf, *address, *size, &offset);
}

/* ---- Within other data, where other linkers than Go's put it ---- */

#define AT_A_TIME 65536
#define ALIGNED 32
#define MOST_TRIES 16 /* of data that only looks like a table at first */

static bool search(const struct elf *elf, const struct elf_section *section, uint64_t *address,
                   uint64_t *size)
{
    unsigned char *bytes = malloc(AT_A_TIME);
    struct table table;
    bool is_found = false;
    int tries = 0;

    for (uint64_t from = -section->address % ALIGNED, got;
         bytes && !is_found && from < section->size; from += got) {
        got = section->size - from < AT_A_TIME ? section->size - from : AT_A_TIME;
        if (elf_read(elf, section->offset + from, bytes, (size_t)got))
            break;
        for (size_t i = 0; i + HEADER_BYTES <= got && !is_found && tries < MOST_TRIES;
             i += ALIGNED) {
            if (!is_magic(elf, bytes + i))
                continue;
            tries++;
            is_found =
                open_table(&table, elf, section, from + i) && find_text(&table, address, size);
        }
    }
    free(bytes);
    return is_found;
}

bool frame_go_text(const struct elf *elf, uint64_t *address, uint64_t *size)
{
    static const char own[][25] = {".gopclntab", ".data.rel.ro.gopclntab"};
    static const char others[][13] = {".data.rel.ro", ".rodata"};
    const struct elf_section *section;
    struct table table;

    for (size_t i = 0; i < COUNT_OF(own); i++)
        if ((section = elf_section(elf, own[i])))
            return open_table(&table, elf, section, 0) && find_text(&table, address, size);
    if (!elf_section(elf, ".go.buildinfo"))
        return false;
    for (size_t i = 0; i < COUNT_OF(others); i++)
        if ((section = elf_section(elf, others[i])) && section->type != SHT_NOBITS &&
            search(elf, section, address, size))
            return true;
    return false;
}

/* ---- V8's built-in functions (node, Chromium): frame pointers, and no tables ---- */

/* Files that contain V8 are larger than this; the symbols of others are not searched. */
#define LEAST_CODE (4u << 20)
/* V8's code is larger than this; other files rarely have as much code without tables. */
#define LEAST_BLOB (1u << 20)

struct blob {
    uint64_t start, end; /* end 0: not found */
};

/* V8's code as a whole has a symbol, and so does each of its functions. */
static int see_symbol(void *context, const struct elf_symbol *symbol)
{
    struct blob *blob = context;
    const uint64_t end = symbol->address + symbol->size;

    if (!strcmp(symbol->name, "v8_Default_embedded_blob_code_"))
        blob->start = symbol->address;
    else if (starts_with(symbol->name, "Builtins_") && symbol->size && end > symbol->address &&
             end > blob->end)
        blob->end = end;
    return 0;
}

/* Finds V8's code by symbols. False: there are none. */
static bool v8_text(const struct elf *elf, uint64_t *address, uint64_t *size)
{
    const struct elf_section *text = elf_section(elf, ".text");
    struct blob blob = {0};

    if (!text || text->size < LEAST_CODE || !elf_section(elf, ".symtab") ||
        elf_each_function(elf, see_symbol, &blob) || !blob.start || blob.end <= blob.start)
        return false;
    *address = blob.start;
    *size = blob.end - blob.start;
    return true;
}

/*
 * V8's interface has a function that tells where that code is, which libraries export even if their
 * other symbols are stripped.
 */
static int see_export(void *context, const struct elf_symbol *symbol)
{
    bool *is_exported = context;

    *is_exported = !strcmp(symbol->name, "_ZN2v87Isolate20GetEmbeddedCodeRangeEPPKvPm");
    return *is_exported;
}

/* ---- The vDSO of arm64 and MIPS, which has no tables. Other builds do not look for it ---- */

#if defined(__aarch64__) || defined(__mips__)
#define HAS_BARE_VDSO 1
#else
#define HAS_BARE_VDSO 0
#endif

#define MOST_BYTES (64u << 10)
#define INSTRUCTION 4

/* The address of the code to which signal handlers return; 0: there is none. */
static uint64_t sigreturn_of(const struct elf *elf)
{
    if (!elf->row->walk || !elf->row->walk->sigreturn)
        return 0;
    for (size_t i = 0; i < elf->segment_count; i++)
        if (elf->segments[i].file_size > MOST_BYTES)
            return 0;
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *segment = &elf->segments[i];
        if (!(segment->flags & PF_X))
            continue;
        const uint64_t found =
            find_code(elf, elf->row->walk->sigreturn, segment->offset, segment->file_size);
        if (found)
            return found - segment->offset + segment->address;
    }
    return 0;
}

static bool leaves_sp_alone(const struct elf *elf, const struct frame_gap *gap)
{
    unsigned char bytes[INSTRUCTION];

    for (uint64_t at = 0; at + INSTRUCTION <= gap->size; at += INSTRUCTION)
        if (elf_read(elf, gap->offset + at, bytes, sizeof(bytes)) ||
            elf->row->walk->moves_sp(machine_little32(bytes)))
            return false;
    return true;
}

struct gaps {
    const struct elf *elf;
    struct frame_gap *gaps;
    size_t count;
};

static int add_function(void *context, const struct elf_symbol *symbol)
{
    struct gaps *gaps = context;
    struct frame_gap *gap = &gaps->gaps[gaps->count];

    if (gaps->count == FRAME_GAPS_MOST || !symbol->size ||
        !place_gap(gaps->elf, symbol->address, symbol->size, gap) ||
        !leaves_sp_alone(gaps->elf, gap))
        return 0;
    add_row(gap, 0, linked);
    gaps->count++;
    return 0;
}

/*
 * That code, and those functions of the vDSO that leave the stack pointer alone. Returns their
 * number.
 */
static size_t vdso_gaps(const struct elf *elf, uint64_t sigreturn,
                        struct frame_gap gaps[FRAME_GAPS_MOST])
{
    struct gaps found = {.elf = elf, .gaps = gaps};
    const int16_t plain = elf->row->walk->plain;

    /* The walk looks up a handler's return address, its first instruction, less one. */
    if (place_gap(elf, sigreturn - INSTRUCTION, (plain ? 5 : 3) * INSTRUCTION, &gaps[0])) {
        add_row(&gaps[0], 0, (struct unwind_rule){.cfa = UNWIND_SIGNAL});
        if (plain)
            add_row(&gaps[0], 3 * INSTRUCTION - 1,
                    (struct unwind_rule){.cfa = UNWIND_SIGNAL, .offset = plain});
        found.count = 1;
    }
    elf_each_function(elf, add_function, &found);
    return found.count;
}

/* ---- Gaps ---- */

/* The dynamic linker's entry code has 61 bytes and two calls on x86-64, and 80 bytes on MIPS. */
#define ENTRY_BYTES 80
#define PLT_ENTRY 16

static struct unwind_rule by_sp(int32_t offset)
{
    return (struct unwind_rule){
        .cfa = UNWIND_BY_SP,
        .offset = offset,
        .ret = -8,
        .base = UNWIND_BASE_SAME,
    };
}

typedef bool text_finder(const struct elf *elf, uint64_t *address, uint64_t *size);

/* A range that `find` finds, whose code keeps frame pointers in this way. */
static bool framed_gap(const struct elf *elf, text_finder *find, enum unwind_cfa way,
                       struct frame_gap *gap)
{
    uint64_t address, size;

    if (!find(elf, &address, &size) || !place_gap(elf, address, size, gap))
        return false;
    add_row(gap, 0, (struct unwind_rule){.cfa = (uint8_t)way});
    return true;
}

/* The kernel enters a program here, so there is no caller. */
static bool entry_gap(const struct elf *elf, struct frame_gap *gap)
{
    if (!elf->entry || !place_gap(elf, elf->entry, ENTRY_BYTES, gap))
        return false;
    add_row(gap, 0, (struct unwind_rule){.cfa = UNWIND_ROOT});
    return true;
}

/* The offset behind the push of the entry's number; 0: it pushes none. */
static int16_t pushes_after(const unsigned char *entry)
{
    static const unsigned char marked[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x68}; /* endbr64; push */

    if (!memcmp(entry, marked, sizeof(marked)))
        return 9;
    return entry[0] == 0xff && entry[1] == 0x25 && entry[6] == 0x68 ? 11 : 0; /* jmp *; push */
}

/* No entry changes the link register; arm64's first one saves it, for the dynamic linker. */
static bool linked_plt_gap(const struct elf *elf, const char *name, struct frame_gap *gap)
{
    static const unsigned char saves[] = {0xf0, 0x7b, 0xbf, 0xa9}; /* stp x16, x30, [sp, #-16]! */
    const struct elf_section *section = elf_section(elf, name);
    unsigned char bytes[2 * sizeof(saves)];

    if (!section || section->size < 2 * PLT_ENTRY ||
        !place_gap(elf, section->address, section->size, gap) ||
        elf_read(elf, gap->offset, bytes, sizeof(bytes)))
        return false;
    add_row(gap, 0, linked);
    if (elf->machine != EM_AARCH64)
        return true;
    /* A landing pad (bti) may precede the store. */
    const bool saves_first = !memcmp(bytes, saves, sizeof(saves));
    if (!saves_first && memcmp(bytes + sizeof(saves), saves, sizeof(saves)))
        return true;
    add_row(gap, saves_first ? sizeof(saves) : 2 * sizeof(saves), by_sp(16));
    add_row(gap, 2 * PLT_ENTRY, linked);
    return true;
}

/*
 * Either all entries jump to an address in a word; or the first one pushes a word and jumps to the
 * dynamic linker, and the others push a number and jump to the first.
 */
static bool plt_gap(const struct elf *elf, const char *name, struct frame_gap *gap)
{
    const struct elf_section *section = elf_section(elf, name);
    unsigned char bytes[2 * PLT_ENTRY];

    if (!section || section->size < 8 ||
        !place_gap(elf, section->address, section->size, gap) ||
        elf_read(elf, gap->offset, bytes, 8))
        return false;
    if (bytes[0] != 0xff || bytes[1] != 0x35) {
        add_row(gap, 0, by_sp(8));
        return true;
    }
    if (section->size < sizeof(bytes) || section->address % PLT_ENTRY ||
        elf_read(elf, gap->offset, bytes, sizeof(bytes)) || !pushes_after(bytes + PLT_ENTRY))
        return false;
    add_row(gap, 0, by_sp(16));
    add_row(gap, 6, by_sp(24));
    struct unwind_rule rule = by_sp(8);
    rule.cfa = UNWIND_BY_PLT;
    rule.inner = pushes_after(bytes + PLT_ENTRY);
    add_row(gap, PLT_ENTRY, rule);
    return true;
}

/* A frame of 8 bytes up to the last instruction: libc's code, with calls that others add. */
static bool init_gap(const struct elf *elf, const char *name, struct frame_gap *gap)
{
    static const unsigned char head[] = {0xf3, 0x0f, 0x1e, 0xfa,
                                         0x48, 0x83, 0xec, 0x08}; /* endbr64; sub */
    const struct elf_section *section = elf_section(elf, name);
    unsigned char bytes[sizeof(head)], last;

    if (!section || section->size < sizeof(head) + 1 ||
        !place_gap(elf, section->address, section->size, gap) ||
        elf_read(elf, gap->offset, bytes, sizeof(bytes)) ||
        elf_read(elf, gap->offset + gap->size - 1, &last, 1) || last != 0xc3)
        return false;
    const size_t marked = memcmp(bytes, head, 4) ? 0 : 4;
    if (memcmp(bytes + marked, head + 4, 4))
        return false;
    add_row(gap, 0, by_sp(8));
    add_row(gap, marked + 4, by_sp(16));
    add_row(gap, gap->size - 1, by_sp(8));
    return true;
}

/* By offset; with equal offsets, the longer one first. */
static int compare_gaps(const void *left, const void *right)
{
    const struct frame_gap *a = left, *b = right;

    return order_of(a->offset, b->offset) ?: order_of(b->size, a->size);
}

static size_t known_gaps(const struct elf *elf, struct frame_gap gaps[FRAME_GAPS_MOST])
{
    static const char names[][10] = {".plt", ".plt.got", ".plt.sec", ".iplt"};
    size_t count = 0;

    count += framed_gap(elf, frame_go_text, UNWIND_FAR_RECORD, &gaps[count]);
    count += framed_gap(elf, v8_text, UNWIND_FRAME_RECORD, &gaps[count]);
    count += entry_gap(elf, &gaps[count]);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        count += machine_has_link(elf->row) ? linked_plt_gap(elf, names[i], &gaps[count])
                                            : plt_gap(elf, names[i], &gaps[count]);
    count += init_gap(elf, ".init", &gaps[count]);
    count += init_gap(elf, ".fini", &gaps[count]);
    return count;
}

size_t frame_gaps(const struct elf *elf, struct frame_gap gaps[FRAME_GAPS_MOST])
{
    memset(gaps, 0, FRAME_GAPS_MOST * sizeof(*gaps));
    if (!elf->row->walk)
        return 0;
    const uint64_t sigreturn = HAS_BARE_VDSO ? sigreturn_of(elf) : 0;
    const size_t count = sigreturn ? vdso_gaps(elf, sigreturn, gaps) : known_gaps(elf, gaps);
    qsort(gaps, count, sizeof(*gaps), compare_gaps);
    return count;
}

/* Sorted by insertion. */
static size_t insert(struct frame_gap gaps[FRAME_GAPS_MOST], size_t count, uint64_t offset,
                     uint64_t size)
{
    size_t at = count;

    for (; at && gaps[at - 1].offset > offset; at--)
        gaps[at] = gaps[at - 1];
    gaps[at] = (struct frame_gap){.offset = offset, .size = size};
    add_row(&gaps[at], 0, (struct unwind_rule){.cfa = UNWIND_FRAME_RECORD});
    return count + 1;
}

size_t frame_gaps_search(const struct elf *elf, uint64_t from, uint64_t to,
                         struct frame_gap gaps[FRAME_GAPS_MOST], size_t count)
{
    bool is_exported = false;

    if (!elf->row->walk || count == FRAME_GAPS_MOST)
        return count;
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *segment = &elf->segments[i];
        const uint64_t first = from > segment->offset ? from : segment->offset;
        const uint64_t end =
            to - segment->offset < segment->file_size ? to : segment->offset + segment->file_size;
        if (!(segment->flags & PF_X) || to <= first || end <= first || end - first < LEAST_BLOB)
            continue;
        /* In such a file, so long a stretch of code without any tables is V8's. */
        return !elf_each_function(elf, see_export, &is_exported) && is_exported
            ? insert(gaps, count, first, end - first) : count;
    }
    return count;
}
