/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* CRC-32 as in Ethernet, gzip and .gnu_debuglink. */
#ifndef STACKBOX_BASE_CRC32_H
#define STACKBOX_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

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

#endif
