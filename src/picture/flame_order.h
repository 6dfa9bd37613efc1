/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Flame graphs in the order of names, and the formats that are made of it. Pure. */
#ifndef STACKBOX_PICTURE_FLAME_ORDER_H
#define STACKBOX_PICTURE_FLAME_ORDER_H

#include <stdio.h>

#include "picture/flame.h"
#include "picture/spellings.h"

/* Children become lists in the order of their names, as bytes. 0 or -ENOMEM. */
int flame_order(struct flame *flame);

/*
 * The node that comes after this one where parents come before their children, or 0 after the last.
 * *depth, of the root 0, becomes its depth.
 */
uint32_t flame_next(const struct flame *flame, uint32_t node, size_t *depth);

/* By their bytes, then by their kinds. */
int flame_compare_names(const struct flame_name *a, const struct flame_name *b);

/*
 * What was before, scaled to the total of now: *scaled becomes a value for each node, which the
 * caller frees. A node's is never less than its children's together, and right to less than one. 0
 * or -ENOMEM.
 */
int flame_scale(const struct flame *flame, uint64_t **scaled);
/* Puts these values in the place of those before, and those here. */
void flame_exchange_before(struct flame *flame, uint64_t *values);

/* Appends a name with the ending of its kind, as it was read: "vfs_read_[k]". */
void flame_add_name(struct text *text, const struct flame_name *name);

/*
 * What writes a flame whose values are summed and whose children are in order. With `differential`
 * it is two: what was before, and now. 0 or -ENOMEM: whether it was written is the caller's to see.
 */

/* A line for each stack, by count, the greatest last; then by names. Differential: two counts. */
int flame_write_folded(FILE *out, const struct flame *flame, bool differential);

/* Functions with their shares, as flat_write() does. */
int flame_write_functions(FILE *out, const struct flame *flame);

/*
 * Both totals, and below them the functions whose own share has changed, the greatest change first:
 *
 *     before 1000, now 1200
 *     +12.1% -> read (read.isra.0 = read.constprop.0)
 *     -0.3% -> write
 *
 * A change is of counts, in percent of the total now, or of the one before where now there is
 * nothing; or of `shares`: each of its own total. Where there are `spellings` (else NULL) they say
 * how a name was spelled before, and now. What has changed by less than is shown is one number at
 * the end.
 */
int flame_write_changes(FILE *out, const struct flame *flame, const struct spellings *spellings,
                        bool shares);

#endif
