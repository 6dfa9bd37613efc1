/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* LZMA2: LZMA in chunks, among chunks that are not packed. */
#ifndef STACKBOX_UNPACK_LZMA2_H
#define STACKBOX_UNPACK_LZMA2_H

#include "unpack/lzma.h"

/*
 * Unpacks until the chunk that says the end, behind which the source is then; what was in the sink
 * before is not looked back into, nor is what is further back than `dictionary` bytes. `lzma` is
 * memory for it, of any content. 0, -EBADMSG, -EFBIG, -ENOMEM.
 */
int lzma2_decode(struct lzma *lzma, struct source *source, size_t dictionary, struct sink *sink);

#endif
