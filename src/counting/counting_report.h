/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A report of what was counted, in all its formats, and what is missing of it. Part of counting. */
#ifndef STACKBOX_COUNTING_COUNTING_REPORT_H
#define STACKBOX_COUNTING_COUNTING_REPORT_H

#include <stdio.h>

#include "counting/counting.h"

/* Names what is in the tally, and writes it to where reports go. 0 or a negative errno. */
int counting_write_report(struct counting *counting, bool last);

/* The same of what is in the tally until now, in the format of what goes to stdout, to `out` alone. */
int counting_print_report(struct counting *counting, FILE *out);

/* Of the run until now. */
void counting_add_losses(const struct counting *counting, struct missing *missing);

#endif
