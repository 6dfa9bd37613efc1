/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What has to be known of files so that they are found on another machine. */
#ifndef STACKBOX_RECORDING_IDENTITIES_H
#define STACKBOX_RECORDING_IDENTITIES_H

#include "elf/identity.h"
#include "processes/mapped_files.h"

/* More segments than any file has that is mapped. */
#define MOST_SEGMENTS 64

struct identified {
    struct mapped_file *file; /* set before; NULL: there is nothing to be read */
    bool is_read;
    struct file_identity identity;
    struct elf_segment *segments; /* of the file, by which it numbers its addresses; free() */
    size_t segment_count;
};

/*
 * Reads those that are open and were not written to, in the process apart. 0; -ENOMEM; what cannot be read
 * otherwise stays unknown.
 */
int identities_read(struct identified *items, size_t count);

#endif
