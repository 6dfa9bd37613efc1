/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What printf(3) and its kin do, as far as this program asks for it: %d, %u, %x, %c, %s, %p, %f, %g and %%, with -, 0, +,
 * width and precision, * for either, and l, ll, z. musl's own can do more, in 9 KB more, and calls this instead.
 */
#ifndef STACKBOX_BASE_FORMAT_H
#define STACKBOX_BASE_FORMAT_H

#include <stdarg.h>
#include <stdio.h>

/* As vfprintf(3). What %f and %g print is rounded as it is there; of more than 2^63 the first 18 digits are right. */
int format_print(FILE *out, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

#endif
