/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions with their shares: a table made from reports and folded text. Pure. */
#ifndef STACKBOX_REPORT_FLAT_H
#define STACKBOX_REPORT_FLAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct flat_function {
    const char *name;
    const char *who; /* its owner, if told apart; else NULL */
    uint64_t self, total;
    size_t counted; /* the last block, from 1, added to its total: recursion counts once */
};

/* What shares are of. */
struct flat_whole {
    uint64_t value, shown; /* shown: in the unit that is printed */
    const char *counted;   /* "samples" */
};

/* Sorts the functions, greatest self first, and writes the first `most`. */
void flat_write_functions(FILE *out, struct flat_function *functions, size_t count, size_t most,
                          const struct flat_whole *of);

#endif
