/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Punycode (RFC 3492): any text in letters, digits and one delimiter. */
#ifndef STACKBOX_DEMANGLE_PUNYCODE_H
#define STACKBOX_DEMANGLE_PUNYCODE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Decodes `bytes` into `characters`, which has space for `room`. `delimiter` replaces the RFC's
 * hyphen. Returns how many characters there are, or -EINVAL: this is not punycode, a character is
 * not in Unicode, or there are more than `room`.
 */
ssize_t punycode_decode(const char *bytes, size_t length, char delimiter, uint32_t *characters,
                        size_t room);

#endif
