/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Checksums. */
#ifndef STACKBOX_BASE_CHECKSUM_H
#define STACKBOX_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 as in Ethernet, gzip and .gnu_debuglink. */
struct crc32 {
    uint32_t table[256];
    uint32_t state;
};

void crc32_begin(struct crc32 *crc);
/* Starts anew with the same table. */
void crc32_again(struct crc32 *crc);
void crc32_add(struct crc32 *crc, const unsigned char *bytes, size_t length);
/* The CRC of all bytes so far; more may follow. */
uint32_t crc32_value(const struct crc32 *crc);

/* CRC-64 as in .xz: ECMA-182, bits reversed. */
struct crc64 {
    uint64_t table[4][256]; /* of a byte, and of one followed by 1, 2, 3 zeros */
};

void crc64_prepare(struct crc64 *crc);
/* Continues the CRC `before` (0 at the start) with these bytes. */
uint64_t crc64_of(const struct crc64 *crc, uint64_t before, const void *bytes, size_t length);

#define SHA256_BYTES 32

void sha256(const void *bytes, size_t length, unsigned char digest[SHA256_BYTES]);

#endif
