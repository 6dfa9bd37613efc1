/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Turns a snoop_record from a buffer into a compact and safe one. */
#ifndef STACKBOX_MAPS_SNOOP_RECORD_H
#define STACKBOX_MAPS_SNOOP_RECORD_H

#include <stdbool.h>

#include "insns/layout.h"

struct snoop_shape {
    uint32_t depth;    /* frames per stack */
    bool kernel, user; /* which stacks it has */
    size_t values;     /* and this many words before them */
};

/*
 * Copies `size` bytes to a record with room for SNOOP_RECORD_BYTES(2, depth) and the values. In the
 * copy the user's frames follow the kernel's, without unused room, and then come the values.
 * Returns the bytes used; 0: it is not a whole record.
 */
size_t snoop_record_take(const void *bytes, size_t size, const struct snoop_shape *shape,
                         struct snoop_record *record);

const uint64_t *snoop_record_values(const struct snoop_record *record);

/* Bytes as frames; a negative number of bytes is 0. */
uint32_t snoop_record_frames(int32_t bytes);

#endif
