/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* CRC-64 as in .xz: ECMA-182, bits reversed. */
#ifndef STACKBOX_UNPACK_CRC64_H
#define STACKBOX_UNPACK_CRC64_H

#include <stddef.h>
#include <stdint.h>

struct crc64 {
    uint64_t table[4][256]; /* of a byte, and of one followed by 1, 2, 3 zeros */
};

void crc64_prepare(struct crc64 *crc);
/* Of bytes that follow those whose CRC is `before`: 0 for none. */
uint64_t crc64_of(const struct crc64 *crc, uint64_t before, const void *bytes, size_t length);

#endif
