/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef STACKBOX_UNPACK_INFLATE_H
#define STACKBOX_UNPACK_INFLATE_H

#include "unpack/ends.h"

/*
 * Deflate, up to its last block; the source is then past it. Repeats do not reach into what was in
 * the sink before. 0, -EBADMSG, -EFBIG, -ENOMEM.
 */
int inflate(struct source *source, struct sink *sink);

#endif
