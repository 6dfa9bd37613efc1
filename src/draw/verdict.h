/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which functions' shares have grown, and whether that many samples make it certain: for build
 * servers. Pure.
 */
#ifndef STACKBOX_DRAW_VERDICT_H
#define STACKBOX_DRAW_VERDICT_H

#include <stdio.h>

#include "picture/flame.h"
#include "picture/spellings.h"

/* By how many standard errors a share must exceed the limit: by chance, once in 740. */
#define VERDICT_SIGMAS 3

/* That many of all. */
struct share {
    uint64_t count, all; /* all: not 0 */
};

/*
 * By how much a share has grown at least, 1 being all: the lower end of the score interval for the
 * difference of two independent proportions (Newcombe 1998, his tenth).
 */
double share_growth_at_least(const struct share *before, const struct share *now, double sigmas);

struct verdict_wishes {
    double limit;     /* of all, 1 being all */
    const char *text; /* the same as typed */
};

/*
 * Writes the verdict, and the three functions that have grown most, by themselves or with what they
 * call; first those that have certainly grown by more than the limit, which are counted in *grown.
 * For a summed flame whose totals are both not 0. 0 or -ENOMEM.
 */
int verdict_write(FILE *out, const struct flame *flame, const struct spellings *spellings,
                  const struct verdict_wishes *wishes, size_t *grown);

#endif
