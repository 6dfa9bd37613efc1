/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef STACKBOX_UNPACK_SHA256_H
#define STACKBOX_UNPACK_SHA256_H

#include <stddef.h>

#define SHA256_BYTES 32

void sha256(const void *bytes, size_t length, unsigned char digest[SHA256_BYTES]);

#endif
