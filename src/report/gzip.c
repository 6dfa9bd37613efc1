/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/gzip.h"

#include <stdbool.h>
#include <string.h>

/* Deflated; no flags, no time, no compression hint, no particular system. */
static const unsigned char header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};

static void put_low_first(unsigned char *to, uint32_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static void write_block(struct gzip *gzip, bool last)
{
    unsigned char head[5] = {last};

    put_low_first(head + 1, (uint32_t)gzip->used, 2);
    put_low_first(head + 3, ~(uint32_t)gzip->used, 2);
    fwrite(head, 1, sizeof(head), gzip->out);
    fwrite(gzip->block, 1, gzip->used, gzip->out);
    gzip->used = 0;
}

void gzip_begin(struct gzip *gzip, FILE *out)
{
    gzip->out = out;
    gzip->size = 0;
    gzip->used = 0;
    crc32_begin(&gzip->crc);
    fwrite(header, 1, sizeof(header), out);
}

void gzip_add(struct gzip *gzip, const void *bytes, size_t length)
{
    const unsigned char *from = bytes;

    crc32_add(&gzip->crc, from, length);
    gzip->size += (uint32_t)length;
    while (length) {
        size_t room = sizeof(gzip->block) - gzip->used, piece = length < room ? length : room;
        /* Keeps a full block until more bytes come, as it could be the last. */
        if (!piece) {
            write_block(gzip, false);
            continue;
        }
        memcpy(gzip->block + gzip->used, from, piece);
        gzip->used += piece;
        from += piece;
        length -= piece;
    }
}

void gzip_end(struct gzip *gzip)
{
    unsigned char tail[8];

    write_block(gzip, true);
    put_low_first(tail, crc32_value(&gzip->crc), 4);
    put_low_first(tail + 4, gzip->size, 4);
    fwrite(tail, 1, sizeof(tail), gzip->out);
}
