/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/crc32.h"

#define POLYNOMIAL 0xedb88320 /* bits reversed */

void crc32_begin(struct crc32 *crc)
{
    for (uint32_t i = 0; i < 256; i++) {
        crc->table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            crc->table[i] = crc->table[i] >> 1 ^ (crc->table[i] & 1 ? POLYNOMIAL : 0);
    }
    crc32_again(crc);
}

void crc32_again(struct crc32 *crc)
{
    crc->state = UINT32_MAX;
}

void crc32_add(struct crc32 *crc, const unsigned char *bytes, size_t length)
{
    uint32_t state = crc->state;

    for (size_t i = 0; i < length; i++)
        state = state >> 8 ^ crc->table[(state ^ bytes[i]) & 0xff];
    crc->state = state;
}

uint32_t crc32_value(const struct crc32 *crc)
{
    return ~crc->state;
}
