/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Unpackers: bytes in, bytes out, every number in them hostile. Repeats read back what was unpacked
 * so far, so that no other memory is needed; that never exceeds `most` bytes.
 */
#ifndef STACKBOX_UNPACK_UNPACK_H
#define STACKBOX_UNPACK_UNPACK_H

#include <stddef.h>

#include "base/text.h"

/*
 * Appends what `packed` holds to `to` (with NULs in it). 0; -EBADMSG for what is cut off,
 * contradicts itself or has a wrong checksum; -EOPNOTSUPP for what the format allows but is not
 * used for this; -EFBIG for more than `most` bytes; -ENOMEM. After an error `to` may hold anything.
 */
int unpack_xz(const unsigned char *packed, size_t size, size_t most, struct text *to);
/* A zlib stream: its two bytes, deflate, Adler-32. */
int unpack_zlib(const unsigned char *packed, size_t size, size_t most, struct text *to);

#endif
