/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tables that functions' names come from: where they are, streamed in large pieces. */
#ifndef STACKBOX_ELF_ELF_TABLES_H
#define STACKBOX_ELF_ELF_TABLES_H

#include "base/text.h"
#include "elf/elf.h"

/* A part of the file that is an array of entries of one size; {0}: there is none. */
struct elf_table {
    uint64_t offset, size;
    uint64_t entry_size;
};

struct elf_symbol_table {
    const struct elf *elf; /* that it is read through */
    struct elf_table symbols;
    uint64_t names, names_size; /* where the names are */
};

/* .symtab, unpacked if necessary; false: stripped, or it cannot be read. */
bool elf_full_symbols(const struct elf *elf, struct elf_symbol_table *table);
/* .dynsym, by its section or, without sections, by PT_DYNAMIC. False: there is none. */
bool elf_dynamic_symbols(const struct elf *elf, struct elf_symbol_table *table);

/* Tables used as one. They point into themselves: do not copy them. */
struct elf_symbol_tables {
    struct elf_symbol_table items[2];
    size_t count;
    bool is_full;     /* they have all functions */
    struct elf image; /* holds the second table, if there are two */
};

/*
 * The tables with the most names: .symtab; or else .dynsym, with the functions that .gnu_debugdata
 * adds. elf_symbol_tables_close is needed.
 */
void elf_symbol_tables_open(const struct elf *elf, struct elf_symbol_tables *tables);
void elf_symbol_tables_close(struct elf_symbol_tables *tables);

/* A section as a table with entries of at least `least` bytes; false: it is not one. */
bool elf_table_of(const struct elf_section *section, size_t least, struct elf_table *table);

/* Reads a table's entries: `bytes` holds `count` of them. */
struct elf_pieces {
    const struct elf *elf;
    struct elf_table left;
    unsigned char *bytes;
    size_t count;
    int error; /* 0, or the negative errno that ended the reading */
};

/* 0 or -ENOMEM; elf_pieces_close is needed after 0. */
int elf_pieces_open(struct elf_pieces *pieces, const struct elf *elf,
                    const struct elf_table *table);
/* The next entries; false at the end of the table. */
bool elf_pieces_next(struct elf_pieces *pieces);
void elf_pieces_close(struct elf_pieces *pieces);

/* One entry of a symbol table. */
struct elf_entry {
    uint64_t address, size; /* without the bit that says Thumb */
    uint32_t name;
    uint16_t section;
    uint8_t type, binding;
    uint8_t entry;  /* every call arrives this many bytes after the address */
    bool is_thumb; /* of ARM; unknown for a label */
};

/* False: it is not a defined function or label with a name. */
bool elf_get_entry(const struct elf *elf, const unsigned char *bytes, struct elf_entry *entry);
/* Does its section hold code? *end: where the section ends. */
bool elf_is_code(const struct elf *elf, const struct elf_entry *entry, uint64_t *end);
/* Marks and labels that tools make; they name nothing. */
bool elf_is_mark(const struct elf *elf, const struct elf_entry *entry, const char *name);

/* Longer names are cut to this many bytes, followed by three dots. */
#define ELF_LONGEST_NAME 16384

/*
 * Replaces `name` with the name at this place in a table's strings, without @VERSION; empty if
 * there is none. 0, -ENOEXEC outside the strings, or a negative errno.
 */
int elf_read_name(const struct elf_symbol_table *table, uint32_t place, struct text *name);
void elf_cut_version(struct text *name);

#endif
