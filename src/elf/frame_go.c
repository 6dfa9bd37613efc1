/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "elf/frame_go.h"

#include <stdlib.h>

#include "base/util.h"

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
    return at <= table->size && size <= table->size - at && !elf_read(table->elf, table->offset + at, to, size);
}

static bool is_magic(const struct elf *elf, const unsigned char *bytes)
{
    const uint32_t magic = elf_get32(elf, bytes);

    return (magic == MAGIC_20 || magic == MAGIC_18 || magic == MAGIC_16 || magic == MAGIC_2) && !bytes[4] &&
           !bytes[5] && bytes[7] == elf_word_size(elf);
}

/* `from` bytes after the start of a section. */
static bool open_table(struct table *table, const struct elf *elf, const struct elf_section *section, uint64_t from)
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

/* The address in entry `number`, which consists of two numbers of that size. */
static bool read_entry(const struct table *table, uint64_t start, uint64_t number, size_t size, uint64_t *value)
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
        if (!*first) { /* left to a relocation: without other linked code, it is there */
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
    const struct elf_segment *segment;
    uint64_t last;

    if (!read_bounds(table, address, &last) || last <= *address)
        return false;
    *size = last - *address;
    segment = elf_code_at(table->elf, *address);
    return segment && last - segment->address <= segment->file_size;
}

/* ---- Within other data, where other linkers than Go's put it ---- */

#define AT_A_TIME 65536
#define ALIGNED 32
#define MOST_TRIES 16 /* of what only begins like one */

static bool search(const struct elf *elf, const struct elf_section *section, uint64_t *address, uint64_t *size)
{
    unsigned char *bytes = malloc(AT_A_TIME);
    struct table table;
    bool is_found = false;
    int tries = 0;

    for (uint64_t from = -section->address % ALIGNED, got; bytes && !is_found && from < section->size; from += got) {
        got = section->size - from < AT_A_TIME ? section->size - from : AT_A_TIME;
        if (elf_read(elf, section->offset + from, bytes, (size_t)got))
            break;
        for (size_t i = 0; i + HEADER_BYTES <= got && !is_found && tries < MOST_TRIES; i += ALIGNED) {
            if (!is_magic(elf, bytes + i))
                continue;
            tries++;
            is_found = open_table(&table, elf, section, from + i) && find_text(&table, address, size);
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
