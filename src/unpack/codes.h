/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Codes of deflate: a symbol is some bits, the more of them the rarer it is. */
#ifndef STACKBOX_UNPACK_CODES_H
#define STACKBOX_UNPACK_CODES_H

#include <stdint.h>

#include "unpack/ends.h"

#define CODES_LONGEST 15
#define CODES_MOST 288
#define CODES_SHORT_BITS 10

/* Bytes as bits, the low ones first. Behind the end there are zeros, and `is_cut`. */
struct bits {
    struct source *source;
    uint64_t held;
    unsigned count; /* of those held */
    bool is_cut;
};

/* At least 48 are held then, if there are as many. */
void bits_fill(struct bits *bits);
/* So many of those held, as a number. */
unsigned bits_take(struct bits *bits, unsigned count);
/* Lets whole bytes go that are held and not used, and bits up to the next byte. */
void bits_end(struct bits *bits);

struct codes {
    uint16_t counts[CODES_LONGEST + 1];  /* of codes by their length */
    uint16_t symbols[CODES_MOST];        /* in the order of their codes */
    uint16_t quick[1 << CODES_SHORT_BITS]; /* symbol and length; 0: longer */
};

/*
 * Codes for so many symbols by their lengths, 0 for those without. -EBADMSG when these cannot be,
 * or leave codes unused; but if it `may_lack`, one of one bit may stand alone, or none at all.
 */
int codes_make(struct codes *codes, const unsigned char *lengths, unsigned count, bool may_lack);
/* The next symbol, of bits that are held; -EBADMSG: no symbol has these. */
int codes_take(const struct codes *codes, struct bits *bits);

#endif
