/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Functions that a process made while it ran, from the perf-PID.map that its runtime writes: lines
 * of `START SIZE NAME`, hexadecimal, streamed in one pass for any number of addresses.
 */
#ifndef STACKBOX_PROCESSES_JITMAP_H
#define STACKBOX_PROCESSES_JITMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct jitmap_found {
    bool found;       /* else no entry covers the address, or the newest that does has no name */
    uint64_t start;   /* of the entry */
    struct text name; /* the bytes of the file, any but a newline: at most 1024, longer ones cut */
};

/*
 * Gives each of `count` addresses, sorted and each once, the newest entry that covers it: the last
 * of the file, which its writer appends to. Code moves and its memory is used again, so that an
 * older entry is wrong where a newer one is. A last line without its newline is still being
 * written, and no entry yet; neither is a line that is not of that form.
 *
 * `fd` is an open regular file and stays the caller's, with its offset; what is written to it
 * meanwhile is left for the next pass, and of a file above 1 GiB only the last 1 GiB counts. Memory
 * is 16 bytes for each address and what is in `found`. found[i], which must be {0}, goes with
 * addresses[i]; jitmap_free frees what is in them, after an error too. 0 or a negative errno:
 * -EINVAL when it is no regular file.
 */
int jitmap_find(int fd, const uint64_t *addresses, size_t count, struct jitmap_found *found);
void jitmap_free(struct jitmap_found *found, size_t count);

#endif
