/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Punycode (RFC 3492): any text in letters, digits and one delimiter. */
#ifndef STACKBOX_DEMANGLE_PUNYCODE_H
#define STACKBOX_DEMANGLE_PUNYCODE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Puts the characters of `bytes` into `characters`, which has room for `room`. `delimiter` is what
 * stands where the RFC has a hyphen. How many there are, or -EINVAL: it is no punycode, a character
 * is none of Unicode, or there are more than `room`.
 */
ssize_t punycode_decode(const char *bytes, size_t length, char delimiter, uint32_t *characters,
                        size_t room);

#endif
