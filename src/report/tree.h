/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stacks as a tree in text: who calls whom, with each frame's own share and its share with
 * everything it calls.
 *
 *       self%  total%  of 1000 samples
 *              100.00  main
 *        2.00  100.00  run
 *               30.00  |- parse
 *       30.00   30.00  |  read
 *                8.00  |- (5 branches below 1%)
 *       60.00   60.00  compute
 *
 * A frame stands below its caller, in the same column, if it is the only one or has more than half
 * of it; others branch off to the right before that one continues. So each step to the right at
 * least halves what is left: branches of one percent or more are at most six steps in, whatever the
 * depth.
 */
#ifndef STACKBOX_REPORT_TREE_H
#define STACKBOX_REPORT_TREE_H

#include <stdint.h>
#include <stdio.h>

#include "picture/flame.h"

struct tree_wishes {
    const char *counted; /* what is counted: "samples" */
    uint64_t narrow;     /* as in report_options */
    size_t width;
};

/*
 * Writes a flame whose values are summed. 0 or -ENOMEM: the caller checks whether it was written.
 */
int tree_write_flame(FILE *out, const struct flame *flame, const struct tree_wishes *wishes);

#endif
