/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Separate debug files: the symbols stripped from a file, found below /usr/lib/debug by the file's
 * build id, or by the name and the checksum in its .gnu_debuglink.
 */
#ifndef STACKBOX_ELF_DEBUG_FILES_H
#define STACKBOX_ELF_DEBUG_FILES_H

#include "elf/elf.h"
#include "elf/elf_symbols.h"

/* Where to look, in this order: below symfs, below root, here. */
struct debug_search {
    const char *symfs; /* --symfs DIR, or NULL */
    const char *root;  /* of the process, such as "/proc/1/root", or NULL */
    const char *path;  /* of the file, as its process sees it from its root; or NULL: unknown */
    const char *cache; /* where debuginfod-find(1) keeps what it has fetched, or NULL */
    bool stays_below;  /* with symfs `path` may not lead out of it: it is not trusted */
    struct text *refused; /* gets "FILE: why" if a file's symbols are not read; or NULL */
};

struct debug_file {
    struct elf elf;
    struct elf_unpacked unpacked;
    uint64_t shift; /* to be added to its addresses: not 0 if one of the two was prelinked */
};

/*
 * Opens the debug file of `elf`. It has a full symbol table, and the same build id or, if one of
 * the two has none, the right checksum. 0 with a file that is open until debug_files_close and must
 * not be moved meanwhile; -ENOENT if there is none.
 */
int debug_files_open(const struct elf *elf, const struct debug_search *where,
                     struct debug_file *debug);
void debug_files_close(struct debug_file *debug);

/*
 * elf_find() by everything there is: the file's own .symtab, else its debug file's, then whatever
 * else names functions in the file itself. With a debug file, .gnu_debugdata adds nothing. If
 * `where` is NULL, no debug file is looked for.
 */
int debug_files_find(const struct elf *elf, const struct debug_search *where,
                     const uint64_t *addresses, size_t count, struct elf_found *found);

struct file_identity {
    enum {
        IDENTITY_UNKNOWN, /* equal to no file: it could not be read, or was written to */
        IDENTITY_BUILD_ID,
        IDENTITY_HASH,
    } kind;
    unsigned char id[ELF_LONGEST_BUILD_ID];
    size_t id_length;
    uint64_t size, hash;
};

/* Of an open file. 0 or a negative errno; then it is unknown. */
int identity_read(const struct elf *elf, struct file_identity *identity);

/* Appends a build id in hexadecimal digits. */
void build_id_add(const unsigned char *id, size_t length, struct text *text);

/*
 * Opens the file with that identity, by where->path or by its build id; or else the debug file with
 * that build id. A descriptor, which the caller closes, as well as elf; -ENOENT: there is none; if
 * *trouble became an error, a candidate could not be opened or read.
 */
int identity_open(const struct file_identity *identity, const struct debug_search *where,
                  struct elf *elf, int *trouble);

#endif
