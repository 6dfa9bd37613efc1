/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "unpack/crc64.h"

#define POLYNOMIAL 0xc96c5795d7870f42

void crc64_prepare(struct crc64 *crc)
{
    for (size_t i = 0; i < 256; i++) {
        uint64_t state = i;
        for (int bit = 0; bit < 8; bit++)
            state = state >> 1 ^ (state & 1 ? POLYNOMIAL : 0);
        crc->table[0][i] = state;
    }
    for (size_t zeros = 1; zeros < 4; zeros++)
        for (size_t i = 0; i < 256; i++) {
            uint64_t state = crc->table[zeros - 1][i];
            crc->table[zeros][i] = state >> 8 ^ crc->table[0][state & 0xff];
        }
}

/* Four bytes at once: one by one, each lookup would wait for the one before. */
uint64_t crc64_of(const struct crc64 *crc, uint64_t before, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t state = ~before;

    for (; length >= 4; length -= 4, at += 4)
        state = state >> 32 ^ crc->table[3][(state ^ at[0]) & 0xff] ^
                crc->table[2][(state >> 8 ^ at[1]) & 0xff] ^
                crc->table[1][(state >> 16 ^ at[2]) & 0xff] ^
                crc->table[0][(state >> 24 ^ at[3]) & 0xff];
    for (; length--; at++)
        state = state >> 8 ^ crc->table[0][(state ^ *at) & 0xff];
    return ~state;
}
