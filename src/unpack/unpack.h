/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Unpackers: nothing in the packed bytes is trusted. Repeats read back what was unpacked so far, so
 * that no other memory is needed; the output never exceeds `most` bytes.
 */
#ifndef STACKBOX_UNPACK_UNPACK_H
#define STACKBOX_UNPACK_UNPACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/*
 * Appends what `packed` holds to `to` (with NULs in it). 0; -EBADMSG for input that is cut off,
 * contradicts itself or has a wrong checksum; -EOPNOTSUPP for features of the format that are not
 * used for this; -EFBIG for more than `most` bytes; -ENOMEM. After an error `to` may hold anything.
 */
int unpack_xz(const unsigned char *packed, size_t size, size_t most, struct text *to);
/* A zlib stream: its two bytes, deflate, Adler-32. */
int unpack_zlib(const unsigned char *packed, size_t size, size_t most, struct text *to);

/* The two ends of unpacking: where bytes come from and where they go. */

struct source {
    const unsigned char *at;
    size_t left;
};

/* Moves `bytes` bytes from the source to `piece`. False: there are fewer. */
bool source_take(struct source *source, size_t bytes, struct source *piece);
/* Skips zeros. False: there are fewer bytes, or they are not all zero. */
bool source_take_zeros(struct source *source, size_t bytes);
/* A number of `count` bytes, low ones first. */
uint64_t low_first(const unsigned char *bytes, size_t count);

/* Text of up to `limit` bytes, which grows as bytes come, whatever size the input declares. */
struct sink {
    struct text *text;
    size_t limit;
};

/* Appends to what the text holds already. 0 or -ENOMEM; after 0, its data is not NULL. */
int sink_open(struct sink *sink, struct text *text, size_t most);
/* Reserves room for that many more bytes, and a NUL after them. 0, -EFBIG or -ENOMEM. */
int sink_reserve(struct sink *sink, size_t bytes);
/* Copies bytes unchanged: -EBADMSG if there are fewer; else as sink_reserve. */
int sink_move(struct sink *sink, struct source *source, size_t bytes);
/* Repeats bytes from `distance` before the end; the caller has checked it and reserved room. */
void sink_repeat(struct text *text, size_t distance, size_t bytes);

/*
 * LZMA: literal bytes and repeats of earlier ones, encoded in binary decisions. An adaptive model
 * predicts each decision for a range coder: likely decisions take few bits.
 */

#define LZMA_STATES 12
#define LZMA_ALIGNMENTS 16       /* of a byte's position, as far as it may matter */
#define LZMA_LITERAL_CHANCES 768 /* plain; and if the expected bit is 0, and 1 */
#define LZMA_MOST_LITERAL_BITS 4

/* How long a repeat is: 2 to 9, 10 to 17, 18 to 273. */
struct lzma_lengths {
    uint16_t is_middle, is_high;
    uint16_t low[LZMA_ALIGNMENTS][8], middle[LZMA_ALIGNMENTS][8], high[256];
};

/* The probability of a 0, in 1/2048. reset() relies on all members having one type. */
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
    unsigned before_bits, place_bits; /* of the byte before and the position, for literals */
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
