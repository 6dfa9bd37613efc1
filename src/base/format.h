/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The part of printf(3) and its kin that this program uses: %d, %u, %x, %c, %s, %p, %f, %g and %%,
 * with -, 0, +, width and precision, * for either, and l, ll, z. musl's own does more and is 9 KB
 * larger; it calls this instead.
 */
#ifndef STACKBOX_BASE_FORMAT_H
#define STACKBOX_BASE_FORMAT_H

#include <stdarg.h>
#include <stdio.h>

/* As vfprintf(3). %f and %g round as it does; above 2^63 the first 18 digits are right. */
int format_print(FILE *out, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

#endif
