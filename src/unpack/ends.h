/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The two ends of what unpacks: where bytes come from, and where they go. */
#ifndef STACKBOX_UNPACK_ENDS_H
#define STACKBOX_UNPACK_ENDS_H

#include <stdint.h>

#include "base/text.h"

struct source {
    const unsigned char *at;
    size_t left;
};

/* So many bytes are `piece` then, and no longer of the source. False: there are fewer. */
bool source_take(struct source *source, size_t bytes, struct source *piece);
/* False: there are fewer, or they are not all zero. */
bool source_take_zeros(struct source *source, size_t bytes);
/* A number of so many bytes, the low ones first. */
uint64_t low_first(const unsigned char *bytes, size_t count);

/* Text that may come to `limit` bytes. It grows as bytes come, whatever was promised. */
struct sink {
    struct text *text;
    size_t limit;
};

/* Behind what is in the text already. 0 or -ENOMEM; then its data is not NULL. */
int sink_open(struct sink *sink, struct text *text, size_t most);
/* Room for so many bytes more, and a NUL behind them: 0, -EFBIG or -ENOMEM. */
int sink_reserve(struct sink *sink, size_t bytes);
/* Moves bytes as they are: -EBADMSG when there are not as many, or as sink_reserve. */
int sink_move(struct sink *sink, struct source *source, size_t bytes);
/* Once more what stands `distance` before the end; the caller has checked it, and reserved. */
void sink_repeat(struct text *text, size_t distance, size_t bytes);

#endif
