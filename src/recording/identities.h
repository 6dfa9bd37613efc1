/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What must be known about files to find them on another machine. */
#ifndef STACKBOX_RECORDING_IDENTITIES_H
#define STACKBOX_RECORDING_IDENTITIES_H

#include "elf/identity.h"
#include "processes/mapped_files.h"

/* More segments than any mapped file has. */
#define MOST_SEGMENTS 64

struct identified {
    struct mapped_file *file; /* set by the caller; NULL: there is nothing to read */
    bool is_read;
    struct file_identity identity;
    struct elf_segment *segments; /* of the file, for its addresses; free() */
    size_t segment_count;
};

/*
 * Reads those that are open and were not written to, in the process apart. 0 or -ENOMEM; what
 * cannot be read stays unknown. If that process fails, *unread says how.
 */
int identities_read(struct identified *items, size_t count, struct text *unread);

#endif
