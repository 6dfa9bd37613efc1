/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The two ends of unpacking: where bytes come from and where they go. */
#ifndef STACKBOX_UNPACK_ENDS_H
#define STACKBOX_UNPACK_ENDS_H

#include <stdint.h>

#include "base/text.h"

struct source {
    const unsigned char *at;
    size_t left;
};

/* Moves that many bytes from the source to `piece`. False: there are fewer. */
bool source_take(struct source *source, size_t bytes, struct source *piece);
/* False: there are fewer, or they are not all zero. */
bool source_take_zeros(struct source *source, size_t bytes);
/* A number of `count` bytes, low ones first. */
uint64_t low_first(const unsigned char *bytes, size_t count);

/* Text of up to `limit` bytes. It grows as bytes come, whatever size was promised. */
struct sink {
    struct text *text;
    size_t limit;
};

/* Appends to what is in the text already. 0 or -ENOMEM; after 0, its data is not NULL. */
int sink_open(struct sink *sink, struct text *text, size_t most);
/* Room for that many more bytes, and a NUL after them: 0, -EFBIG or -ENOMEM. */
int sink_reserve(struct sink *sink, size_t bytes);
/* Copies bytes unchanged: -EBADMSG if there are fewer; else as sink_reserve. */
int sink_move(struct sink *sink, struct source *source, size_t bytes);
/* Repeats what is `distance` before the end; the caller has checked that and reserved room. */
void sink_repeat(struct text *text, size_t distance, size_t bytes);

#endif
