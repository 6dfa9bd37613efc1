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
 * they were one, else by PLT entries, each table in one pass. The nearest start whose size covers
 * the address wins. A symbol without a size covers only its own address, or, if the table has all
 * functions (not .dynsym alone), the code up to the next one. Of several names with one start:
 * typed over untyped, global over weak over local, fewer leading underscores, the shorter, the
 * first by strcmp.
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
/* The same by .dynsym and PLT entries only: the rest, when another file's .symtab was asked. */
int elf_find_rest(const struct elf *elf, const uint64_t *addresses, size_t count,
                  struct elf_found *found);
void elf_found_free(struct elf_found *found, size_t count);

#endif
