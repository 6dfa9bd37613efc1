/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Each name's count in a flame, by itself and with what it calls. Pure. */
#ifndef STACKBOX_FLAME_FUNCTIONS_H
#define STACKBOX_FLAME_FUNCTIONS_H

#include <stdio.h>

#include "flame/flame.h"

struct function_counts {
    uint64_t self;  /* of stacks that end in it */
    uint64_t total; /* of stacks that contain it */
};

struct function {
    struct function_counts now, before;
    uint32_t open; /* how often it is on the path to the current node */
};

struct functions {
    const struct flame *flame;
    struct function *items; /* by the index of their names; delimiters have no counts */
    uint32_t *leaves;       /* by depth: the node to which a stack that ends there belongs, or 0 */
    size_t room;
};

/* For a summed flame. 0 or -ENOMEM; functions_free after either. */
int functions_make(struct functions *functions, const struct flame *flame);
void functions_free(struct functions *functions);

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

struct verdict_options {
    double limit;     /* of all, 1 being all */
    const char *text; /* the same as typed */
};

/*
 * Writes the verdict, and the three functions that have grown most, by themselves or with what they
 * call; first those that have certainly grown by more than the limit, which are counted in *grown.
 * For a summed flame whose totals are both not 0. 0 or -ENOMEM.
 */
int verdict_write(FILE *out, const struct flame *flame, const struct verdict_options *options,
                  size_t *grown);

#endif
