/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The tables that names of functions are made of: where they are, streamed in large pieces. */
#ifndef STACKBOX_ELF_ELF_TABLES_H
#define STACKBOX_ELF_ELF_TABLES_H

#include "base/text.h"
#include "elf/elf.h"

/* A part of the file that is a row of entries of one size; {0}: there is none. */
struct elf_table {
    uint64_t offset, size;
    uint64_t entry_size;
};

struct elf_symbol_table {
    const struct elf *elf; /* that it is read through */
    struct elf_table symbols;
    uint64_t names, names_size; /* where the texts of their names are */
};

/* .symtab, unpacked where that is needed; false: stripped, or it cannot be read. */
bool elf_full_symbols(const struct elf *elf, struct elf_symbol_table *table);
/* .dynsym, by its section or, without sections, by what PT_DYNAMIC says. False: there is none. */
bool elf_dynamic_symbols(const struct elf *elf, struct elf_symbol_table *table);

/* Tables that are as one. They point into themselves: they are not copied. */
struct elf_symbol_tables {
    struct elf_symbol_table items[2];
    size_t count;
    bool is_full;     /* they leave out no function */
    struct elf image; /* that the second one is in, where there are two */
};

/*
 * What names most of a file: .symtab; else .dynsym, with the functions that .gnu_debugdata has
 * beside it. elf_symbol_tables_close is needed.
 */
void elf_symbol_tables_open(const struct elf *elf, struct elf_symbol_tables *tables);
void elf_symbol_tables_close(struct elf_symbol_tables *tables);

/* A section as a table whose entries have `least` bytes and more; false: it is none. */
bool elf_table_of(const struct elf_section *section, size_t least, struct elf_table *table);

/* What a table's entries are read through: `bytes` holds `count` of them. */
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
    uint8_t entry;  /* bytes behind the address that all calls come to */
    bool is_thumb; /* of ARM; a label does not tell */
};

/* False: it is none of a defined function or label that has a name. */
bool elf_get_entry(const struct elf *elf, const unsigned char *bytes, struct elf_entry *entry);
/* Whether its section holds code; *end: where that ends, with what the entry is in. */
bool elf_is_code(const struct elf *elf, const struct elf_entry *entry, uint64_t *end);
/* Marks and labels that tools make, which are no names of anything. */
bool elf_is_mark(const struct elf *elf, const struct elf_entry *entry, const char *name);

/* Bytes of a symbol's name that are used; three dots are for those behind them. */
#define ELF_LONGEST_NAME 16384

/*
 * The name at a place in a table's texts, without @VERSION, in place of what was in `name`. It is
 * empty where there is none. 0, -ENOEXEC outside of the texts, or a negative errno.
 */
int elf_read_name(const struct elf_symbol_table *table, uint32_t place, struct text *name);
void elf_cut_version(struct text *name);

#endif
