/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which functions' shares have grown, and whether so many samples tell that for certain: what a build
 * server asks. Pure.
 */
#ifndef STACKBOX_DRAW_VERDICT_H
#define STACKBOX_DRAW_VERDICT_H

#include <stdio.h>

#include "picture/flame.h"
#include "picture/spellings.h"

/* By how many standard errors a share must have grown by more than the limit: chance does that once in 740. */
#define VERDICT_SIGMAS 3

/* So many of all. */
struct share {
    uint64_t count, all; /* all: not 0 */
};

/*
 * What a share has grown by at least, 1 being all: the lower end of the score interval of the difference of
 * two proportions that are independent of each other (Newcombe 1998, his tenth).
 */
double share_growth_at_least(const struct share *before, const struct share *now, double sigmas);

struct verdict_wishes {
    double limit;     /* of all, 1 being all */
    const char *text; /* the same as it was said */
};

/*
 * Writes the verdict, and the three functions that have grown most, by themselves or with what they call;
 * those that have grown by more than the limit for certain first, which are counted in *grown. Of a flame whose
 * values are summed, and none of whose two totals is 0. 0 or -ENOMEM.
 */
int verdict_write(FILE *out, const struct flame *flame, const struct spellings *spellings,
                  const struct verdict_wishes *wishes, size_t *grown);

#endif
