/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which file a file is, wherever it lies and whatever it is called: its build id, or, where it has none, its
 * size and a hash of its bytes. By that one that was seen on another machine is found here.
 */
#ifndef STACKBOX_ELF_IDENTITY_H
#define STACKBOX_ELF_IDENTITY_H

#include "elf/debug_files.h"
#include "elf/elf.h"

struct file_identity {
    enum {
        IDENTITY_UNKNOWN, /* nothing is that file: it could not be read, or was written to */
        IDENTITY_BUILD_ID,
        IDENTITY_HASH,
    } kind;
    unsigned char id[ELF_LONGEST_BUILD_ID];
    size_t id_length;
    uint64_t size, hash;
};

/* Of an open file. 0 or a negative errno, and then it is unknown. */
int identity_read(const struct elf *elf, struct file_identity *identity);

/* Appends a build id in hexadecimal digits. */
void identity_add_id(const struct file_identity *identity, struct text *text);

/*
 * Opens the file of that identity, by where->path or by its build id; else the debug file of that build id. A
 * descriptor, which is the caller's, as elf is to be closed; -ENOENT: there is none, or, where *trouble became why,
 * it may be one that could not be opened or read.
 */
int identity_open(const struct file_identity *identity, const struct debug_search *where, struct elf *elf,
                  int *trouble);

#endif
