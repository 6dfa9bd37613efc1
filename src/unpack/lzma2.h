/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* LZMA2: LZMA in chunks, mixed with chunks that are not packed. */
#ifndef STACKBOX_UNPACK_LZMA2_H
#define STACKBOX_UNPACK_LZMA2_H

#include "unpack/lzma.h"

/*
 * Unpacks up to and including the chunk that ends the stream. Repeats reach neither into what was
 * in the sink before nor further back than `dictionary` bytes. `lzma` is working memory, of any
 * content. 0, -EBADMSG, -EFBIG, -ENOMEM.
 */
int lzma2_decode(struct lzma *lzma, struct source *source, size_t dictionary, struct sink *sink);

#endif
