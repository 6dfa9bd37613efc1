/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The functions of an ELF file. A name is that of a defined symbol in a section of code, without
 * @VERSION; the marks of Arm between code and data ($x, $d) are no names.
 */
#ifndef STACKBOX_ELF_ELF_SYMBOLS_H
#define STACKBOX_ELF_ELF_SYMBOLS_H

#include "base/text.h"
#include "elf/elf.h"

struct elf_symbol {
    const char *name;
    uint64_t address; /* without the bit that says Thumb */
    uint64_t size;    /* 0: not known, as for much that is written in assembly */
    uint8_t type;     /* STT_FUNC, STT_GNU_IFUNC, or STT_NOTYPE: a label */
    uint8_t binding;  /* STB_LOCAL, STB_GLOBAL, STB_WEAK ... */
    uint8_t entry;    /* so many bytes behind the address is what every call comes to */
};

/*
 * Calls `each` with every function and label of .symtab, else of .dynsym and then of .gnu_debugdata,
 * in the table's order, and with every alias; what it points to holds for that call. A value of
 * `each` other than 0 ends it: a negative one is returned, any other counts as done. 0, also where
 * the file has no symbols, or a negative errno.
 */
typedef int elf_symbol_callback(void *context, const struct elf_symbol *symbol);
int elf_each_function(const struct elf *elf, elf_symbol_callback *each, void *context);

struct elf_found {
    bool found;       /* else nothing is known to be there */
    uint64_t start;   /* of the function */
    struct text name; /* "malloc", "malloc@plt" */
};

/*
 * Gives each address the function that holds it: by .symtab, else by .dynsym and .gnu_debugdata as
 * if they were one, else by the entries that call into other files, each table in one pass. The
 * nearest start whose size covers the address wins. Without a size it is the address itself alone,
 * or where all functions stand (not in .dynsym alone) the code up to the next one. Of several names
 * of one start: typed over untyped, global over weak over local, fewer leading underscores, the
 * shorter, the first by strcmp.
 *
 * `addresses` are sorted, each once; found[i] goes with addresses[i] and must be {0}: one that is
 * found already stays. elf_found_free frees what is in them, after an error too. 0, also where
 * tables contradict themselves (what they would have given is not found), or a negative errno.
 */
int elf_find(const struct elf *elf, const uint64_t *addresses, size_t count,
             struct elf_found *found);
/* The same by symbols alone. */
int elf_find_symbols(const struct elf *elf, const uint64_t *addresses, size_t count,
                     struct elf_found *found);
/* The same by .dynsym and those entries alone: the rest, where another file's .symtab was asked. */
int elf_find_rest(const struct elf *elf, const uint64_t *addresses, size_t count,
                  struct elf_found *found);
void elf_found_free(struct elf_found *found, size_t count);

#endif
