/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Separate debug files: the symbols that were taken out of a file, kept below /usr/lib/debug by the
 * file's build id, or beside it by the name and the checksum in its .gnu_debuglink.
 */
#ifndef STACKBOX_ELF_DEBUG_FILES_H
#define STACKBOX_ELF_DEBUG_FILES_H

#include "elf/elf_symbols.h"

/* Where they are looked for: below symfs first, then below root, then here. */
struct debug_search {
    const char *symfs; /* --symfs DIR, or NULL */
    const char *root;  /* of the process, such as "/proc/1/root", or NULL */
    const char *path;  /* of the file as its process has it, from its root on, or NULL: not known */
    const char *cache; /* where debuginfod-find(1) keeps what it has fetched, or NULL */
    bool stays_below;  /* with symfs `path` leads nowhere else: it is a stranger's */
    struct text *refused; /* gets "FILE: why" where symbols of one are not read; or NULL */
};

struct debug_file {
    struct elf elf;
    struct elf_unpacked unpacked;
    uint64_t shift; /* to be added to its addresses: not 0 where one of the two was prelinked */
};

/*
 * Opens the debug file of `elf`. It has a table of all symbols, and the same build id or, where one
 * of the two has none, the right checksum. 0 with a file that is open, until debug_files_close, and
 * must not be moved meanwhile; -ENOENT where there is none.
 */
int debug_files_open(const struct elf *elf, const struct debug_search *where,
                     struct debug_file *debug);
void debug_files_close(struct debug_file *debug);

/*
 * elf_find() by all there is: the file's own .symtab, else that of its debug file, then whatever
 * else names functions in the file itself. With a debug file .gnu_debugdata has nothing to add. With
 * `where` of NULL no debug file is looked for.
 */
int debug_files_find(const struct elf *elf, const struct debug_search *where,
                     const uint64_t *addresses, size_t count, struct elf_found *found);

#endif
