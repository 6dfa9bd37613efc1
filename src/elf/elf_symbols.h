/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The functions of an ELF file. A name is that of a defined symbol in a section of code, without
 * @VERSION; Arm's mapping symbols ($x, $d) are not names.
 */
#ifndef STACKBOX_ELF_ELF_SYMBOLS_H
#define STACKBOX_ELF_ELF_SYMBOLS_H

#include "base/text.h"
#include "elf/elf.h"

struct elf_symbol {
    const char *name;
    uint64_t address; /* without the bit that says Thumb */
    uint64_t size;    /* 0: unknown, as for much that is written in assembly */
    uint8_t type;     /* STT_FUNC, STT_GNU_IFUNC, or STT_NOTYPE: a label */
    uint8_t binding;  /* STB_LOCAL, STB_GLOBAL, STB_WEAK ... */
    uint8_t entry;    /* every call arrives this many bytes after the address */
};

/*
 * Calls `each` with every function and label of .symtab, or else of .dynsym and then of
 * .gnu_debugdata, in the table's order, aliases included; what it points to is valid during the
 * call. A result other than 0 ends this: a negative one is returned, any other counts as success.
 * Of long names that many symbols share, as linkers never write them, most are left out.
 * 0, even if the file has no symbols, or a negative errno.
 */
typedef int elf_symbol_callback(void *context, const struct elf_symbol *symbol);
int elf_each_function(const struct elf *elf, elf_symbol_callback *each, void *context);

struct elf_found {
    bool found;       /* otherwise nothing is known */
    uint64_t start;   /* of the function */
    struct text name; /* "malloc", "malloc@plt" */
};

/*
 * Finds the function that each address is in: by .symtab, else by .dynsym and .gnu_debugdata as if
 * they were one table, else by PLT entries; each table in one pass. The nearest start whose size
 * covers the address wins. A symbol without a size covers only its own address, or, if the table
 * has all functions (not .dynsym alone), the code up to the next one. Of several names with one
 * start: typed over untyped, global over weak over local, fewer leading underscores, the shorter,
 * the first by strcmp.
 *
 * `addresses` are sorted, without duplicates; found[i] belongs to addresses[i] and must be {0}; one
 * that is found already stays. elf_found_free frees their contents, after an error, too. 0, even if
 * tables contradict themselves (their names are then not found), or a negative errno.
 */
int elf_find(const struct elf *elf, const uint64_t *addresses, size_t count,
             struct elf_found *found);
/* The same by symbols only. */
int elf_find_symbols(const struct elf *elf, const uint64_t *addresses, size_t count,
                     struct elf_found *found);
/* The same by .dynsym and PLT entries only: for the rest after another file's .symtab. */
int elf_find_rest(const struct elf *elf, const uint64_t *addresses, size_t count,
                  struct elf_found *found);
void elf_found_free(struct elf_found *found, size_t count);

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

/* 0 goes on; anything else ends the walk and is returned. */
typedef int elf_entry_callback(void *context, const struct elf_symbol_table *table,
                               const struct elf_entry *entry);

/* Calls `each` for the entries of a table that elf_get_entry() accepts. 0 or a negative errno. */
int elf_each_entry(const struct elf_symbol_table *table, elf_entry_callback *each, void *context);

/* Does its section hold code? *end: where the section ends. */
bool elf_is_code(const struct elf *elf, const struct elf_entry *entry, uint64_t *end);

/* Is it a mark or label that tools make, which names nothing? */
bool elf_is_mark(const struct elf *elf, const struct elf_entry *entry, const char *name);

/* Longer names are cut to this many bytes, followed by three dots. */
#define ELF_LONGEST_NAME 16384

/*
 * Replaces `name` with the name at this place in a table's strings, without @VERSION; empty if
 * there is none. 0, -ENOEXEC outside the strings, or a negative errno.
 */
int elf_read_name(const struct elf_symbol_table *table, uint32_t place, struct text *name);

/*
 * If elf->unpacked is set, unpacks .symtab and its string table, one of which is compressed: they
 * are then elf->unpacked->symbols and names, to be read through `elf`. False: this failed, as
 * elf->unpacked->refusal says.
 */
bool elf_unpack_symbols(const struct elf *elf, const struct elf_section *symbols,
                        const struct elf_section *names);

/*
 * Opens .gnu_debugdata's content, unpacked once, as an ELF file with the class, byte order and
 * addresses of `elf`; elf_close is needed after true. False: there is none, or it cannot be used,
 * as elf->unpacked->refusal says.
 */
bool elf_unpack_image(const struct elf *elf, struct elf *image);

/* Frees the unpacked bytes. Files that were opened from them may no longer be read. */
void elf_unpacked_free(struct elf_unpacked *unpacked);

/*
 * Can programs with two kinds of code run here: ARM's or MIPS's? Other builds do not ask which kind
 * an address has.
 */
#if defined(__arm__) || defined(__aarch64__) || defined(__mips__)
#define HAS_ARM_CODES 1
#else
#define HAS_ARM_CODES 0
#endif

enum arm_code {
    ARM_CODE_UNKNOWN, /* unknown */
    ARM_CODE_ARM,
    ARM_CODE_THUMB,
    ARM_CODE_DATA,
};

/*
 * codes[i] belongs to addresses[i], which are sorted, without duplicates. If mapping symbols and
 * functions contradict each other, ARM_CODE_ARM is never the result. 0 or a negative errno.
 */
int elf_arm_codes(const struct elf *elf, const uint64_t *addresses, size_t count,
                  enum arm_code *codes);

#endif
