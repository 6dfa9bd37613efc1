/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef STACKBOX_UNPACK_INFLATE_H
#define STACKBOX_UNPACK_INFLATE_H

#include "unpack/ends.h"

/*
 * Deflate, until its last block; the source is behind it then. What was in the sink before is not
 * looked back into. 0, -EBADMSG, -EFBIG, -ENOMEM.
 */
int inflate(struct source *source, struct sink *sink);

#endif
