/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A summed flame as text, with a line per function. 0 or -ENOMEM: the caller checks whether it was
 * written.
 */
#ifndef STACKBOX_REPORT_FLAT_H
#define STACKBOX_REPORT_FLAT_H

#include <stdio.h>

#include "flame/flame.h"

/* Functions with their shares, as flat_write() does. */
int flame_write_functions(FILE *out, const struct flame *flame, const char *counted);

/*
 * Both totals, and below them the functions whose own share has changed, the greatest change first:
 *
 *     before 1000, now 1200
 *     +12.1% -> read
 *     -0.3% -> write
 *
 * A change is of counts, in percent of the total now, or of the total before if there is none now;
 * or of `shares`: each of its own total. Changes too small to be shown are one number at the end.
 */
int flame_write_changes(FILE *out, const struct flame *flame, bool shares);

#endif
