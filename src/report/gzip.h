/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A gzip file of stored blocks: bytes are written unchanged, with a checksum. Nothing is
 * compressed, so no library is needed; the same bytes always make the same file.
 */
#ifndef STACKBOX_REPORT_GZIP_H
#define STACKBOX_REPORT_GZIP_H

#include <stdio.h>

#include "base/checksum.h"

#define GZIP_BLOCK_BYTES 65535 /* the most in a stored block */

struct gzip {
    FILE *out; /* the caller checks it for errors */
    struct crc32 crc;
    uint32_t size; /* modulo 2^32, as in the file */
    size_t used;   /* of the block not written yet */
    unsigned char block[GZIP_BLOCK_BYTES];
};

void gzip_begin(struct gzip *gzip, FILE *out);
void gzip_add(struct gzip *gzip, const void *bytes, size_t length);
void gzip_end(struct gzip *gzip);

#endif
