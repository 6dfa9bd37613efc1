/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Deflate's codes: a symbol is a number of bits, more of them the rarer it is. */
#ifndef STACKBOX_UNPACK_CODES_H
#define STACKBOX_UNPACK_CODES_H

#include <stdint.h>

#include "unpack/ends.h"

#define CODES_LONGEST 15
#define CODES_MOST 288
#define CODES_SHORT_BITS 10

/* Bytes as bits, low ones first. Past the end there are zeros, and `is_cut` is set. */
struct bits {
    struct source *source;
    uint64_t held;
    unsigned count; /* of those held */
    bool is_cut;
};

/* Afterwards at least 48 are held, if there are as many. */
void bits_fill(struct bits *bits);
/* That many of the held bits, as a number. */
unsigned bits_take(struct bits *bits, unsigned count);
/* Gives back whole bytes that are held but unused, and drops bits up to the next byte. */
void bits_end(struct bits *bits);

struct codes {
    uint16_t counts[CODES_LONGEST + 1];  /* of codes by their length */
    uint16_t symbols[CODES_MOST];        /* in the order of their codes */
    uint16_t quick[1 << CODES_SHORT_BITS]; /* symbol and length; 0: the code is longer */
};

/*
 * Codes for `count` symbols by their lengths, 0 for symbols without. -EBADMSG if the lengths are
 * impossible or leave codes unused; with `may_lack` there may be a single code of one bit, or none.
 */
int codes_make(struct codes *codes, const unsigned char *lengths, unsigned count, bool may_lack);
/* The next symbol, from the bits held; -EBADMSG: no symbol has this code. */
int codes_take(const struct codes *codes, struct bits *bits);

#endif
