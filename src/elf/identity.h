/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A file's identity, wherever it is and whatever it is called: its build id, or, if it has none,
 * its size and a hash of its bytes. It finds here a file that was seen on another machine.
 */
#ifndef STACKBOX_ELF_IDENTITY_H
#define STACKBOX_ELF_IDENTITY_H

#include "elf/debug_files.h"
#include "elf/elf.h"

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
void identity_add_id(const struct file_identity *identity, struct text *text);

/*
 * Opens the file with that identity, by where->path or by its build id; or else the debug file with
 * that build id. A descriptor, which the caller closes, as well as elf; -ENOENT: there is none, or,
 * if *trouble became the reason, there may be one that could not be opened or read.
 */
int identity_open(const struct file_identity *identity, const struct debug_search *where, struct elf *elf,
                  int *trouble);

#endif
