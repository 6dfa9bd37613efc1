/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A snoop_record as it comes out of a buffer, made small and safe. */
#ifndef STACKBOX_MAPS_SNOOP_RECORD_H
#define STACKBOX_MAPS_SNOOP_RECORD_H

#include <stdbool.h>

#include "insns/layout.h"

struct snoop_shape {
    uint32_t depth;    /* frames per stack */
    bool kernel, user; /* which stacks it has */
    size_t values;     /* and so many words before them */
};

/*
 * Copies `size` bytes to a record with room for SNOOP_RECORD_BYTES(2, depth) and the values: there the user's
 * frames follow the kernel's, and what is counted is there, and then the values. How many bytes of it are used; 0: that is no
 * whole record.
 */
size_t snoop_record_take(const void *bytes, size_t size, const struct snoop_shape *shape,
                         struct snoop_record *record);

const uint64_t *snoop_record_values(const struct snoop_record *record);

/* How many frames, where a negative number is no number of bytes. */
uint32_t snoop_record_frames(int32_t bytes);

#endif
