/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Functions with their shares: the table that reports and folded text become. Pure. */
#ifndef STACKBOX_REPORT_FLAT_H
#define STACKBOX_REPORT_FLAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct flat_function {
    const char *name;
    const char *who; /* whose it is, where that is told apart; else NULL */
    uint64_t self, total;
    size_t counted; /* the last block, from 1, that was added to its total: recursion adds once */
};

/* Puts the functions in order, the greatest self first, and writes the `most` first. */
void flat_write_functions(FILE *out, struct flat_function *functions, size_t count, size_t most,
                          uint64_t sum);

#endif
