/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * LZMA: literal bytes and repeats of earlier ones, told by yes or no. How likely each yes is was
 * learnt from those before it, and divides a range of numbers: what is likely takes few bits.
 */
#ifndef STACKBOX_UNPACK_LZMA_H
#define STACKBOX_UNPACK_LZMA_H

#include <stdint.h>

#include "unpack/ends.h"

#define LZMA_STATES 12
#define LZMA_ALIGNMENTS 16       /* of a byte's position, as far as it may matter */
#define LZMA_LITERAL_CHANCES 768 /* for a byte; and with a 0 and a 1 in the byte expected there */
#define LZMA_MOST_LITERAL_BITS 4

/* How long a repeat is: 2 to 9, 10 to 17, 18 to 273. */
struct lzma_lengths {
    uint16_t is_middle, is_high;
    uint16_t low[LZMA_ALIGNMENTS][8], middle[LZMA_ALIGNMENTS][8], high[256];
};

/* How likely a 0 is, in 1/2048. All of them are of one type. */
struct lzma_chances {
    uint16_t is_repeat[LZMA_STATES][LZMA_ALIGNMENTS];
    uint16_t is_known[LZMA_STATES];  /* a distance used recently */
    uint16_t is_older[LZMA_STATES];  /* not the last one */
    uint16_t is_longer[LZMA_STATES][LZMA_ALIGNMENTS]; /* than one byte */
    uint16_t is_third[LZMA_STATES];  /* or fourth */
    uint16_t is_fourth[LZMA_STATES];
    struct lzma_lengths far, near;   /* for repeats with a new distance and with a known one */
    uint16_t magnitude[4][64], middle[10][32], low[16]; /* of distances */
    uint16_t literal[LZMA_LITERAL_CHANCES << LZMA_MOST_LITERAL_BITS]; /* not all of it is in use */
};

struct lzma {
    size_t start;      /* where in the text repeats may begin */
    size_t dictionary; /* how far back they may reach */
    unsigned before_bits, place_bits; /* of the byte before and of the position: for literals */
    unsigned alignment_bits;
    unsigned state;              /* what the last symbols were */
    uint32_t distances[4];       /* of the last repeats, less 1 */
    struct lzma_chances chances;
};

/*
 * LZMA2, which is LZMA in chunks, mixed with chunks that are not packed. Unpacks up to and
 * including the chunk that ends the stream. Repeats reach neither into what was in the sink before
 * nor further back than `dictionary` bytes. `lzma` is working memory, of any content. 0, -EBADMSG,
 * -EFBIG, -ENOMEM. It takes time in proportion to what it unpacks.
 */
int lzma2_decode(struct lzma *lzma, struct source *source, size_t dictionary, struct sink *sink);

#endif
