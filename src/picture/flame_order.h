/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Flame graphs ordered by name, and the formats made from that. Pure. */
#ifndef STACKBOX_PICTURE_FLAME_ORDER_H
#define STACKBOX_PICTURE_FLAME_ORDER_H

#include <stdio.h>

#include "picture/flame.h"
#include "picture/spellings.h"

/* Makes children lists ordered by name, as bytes. 0 or -ENOMEM. */
int flame_order(struct flame *flame);

/*
 * The next node, parents before their children, or 0 after the last. *depth, 0 for the root,
 * becomes its depth.
 */
uint32_t flame_next(const struct flame *flame, uint32_t node, size_t *depth);

/* By their bytes, then by their kinds. */
int flame_compare_names(const struct flame_name *a, const struct flame_name *b);

/*
 * Scales the values before to the total now: *scaled becomes a value per node, which the caller
 * frees. A node's is never less than its children's together, and off by less than one. 0 or
 * -ENOMEM.
 */
int flame_scale(const struct flame *flame, uint64_t **scaled);
/* Exchanges these values for the nodes' `before`. */
void flame_exchange_before(struct flame *flame, uint64_t *values);

/* Appends a name with the suffix of its kind, as it was read: "vfs_read_[k]". */
void flame_add_name(struct text *text, const struct flame_name *name);

/*
 * Writers of a flame whose values are summed and whose children are in order. With `differential`
 * it is two: before and now. 0 or -ENOMEM: the caller checks whether it was written.
 */

/* A line per stack, by count, greatest last; then by names. Differential: two counts. */
int flame_write_folded(FILE *out, const struct flame *flame, bool differential);

/* Functions with their shares, as flat_write() does. */
int flame_write_functions(FILE *out, const struct flame *flame, const char *counted);

/*
 * Both totals, and below them the functions whose own share has changed, the greatest change first:
 *
 *     before 1000, now 1200
 *     +12.1% -> read (read.isra.0 = read.constprop.0)
 *     -0.3% -> write
 *
 * A change is of counts, in percent of the total now, or of the total before if there is none now;
 * or of `shares`: each of its own total. `spellings`, unless NULL, say how a name was spelled
 * before and now. Changes too small to be shown are one number at the end.
 */
int flame_write_changes(FILE *out, const struct flame *flame, const struct spellings *spellings,
                        bool shares);

#endif
