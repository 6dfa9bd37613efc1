/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unpack/crc64.h"

#define POLYNOMIAL 0xc96c5795d7870f42

void crc64_prepare(struct crc64 *crc)
{
    for (uint64_t i = 0; i < 256; i++) {
        crc->table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            crc->table[i] = crc->table[i] >> 1 ^ (crc->table[i] & 1 ? POLYNOMIAL : 0);
    }
}

uint64_t crc64_of(const struct crc64 *crc, uint64_t before, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t state = ~before;

    for (; length--; at++)
        state = state >> 8 ^ crc->table[(state ^ *at) & 0xff];
    return ~state;
}
