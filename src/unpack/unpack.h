/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What was packed by tools that are not here: bytes in, bytes out, every number in them hostile. What
 * was unpacked so far is what is looked back into, so that nothing else needs memory; it never comes
 * to more than `most` bytes.
 */
#ifndef STACKBOX_UNPACK_UNPACK_H
#define STACKBOX_UNPACK_UNPACK_H

#include <stddef.h>

#include "base/text.h"

/*
 * Appends what `packed` holds to `to`, whose text it is (with NULs in it). 0; -EBADMSG for what is
 * cut off, contradicts itself or has a wrong checksum; -EOPNOTSUPP for what the format allows but
 * nobody makes for this purpose; -EFBIG when it would be more than `most` bytes; -ENOMEM. After an
 * error `to` holds anything.
 */
int unpack_xz(const unsigned char *packed, size_t size, size_t most, struct text *to);
/* A zlib stream: its two bytes, deflate, Adler-32. */
int unpack_zlib(const unsigned char *packed, size_t size, size_t most, struct text *to);

#endif
