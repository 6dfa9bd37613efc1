/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A report of what was counted, in all its formats, with what is missing. Part of counting. */
#ifndef STACKBOX_COUNTING_COUNTING_REPORT_H
#define STACKBOX_COUNTING_COUNTING_REPORT_H

#include <stdio.h>

#include "counting/counting.h"

/* Names what is in the tally, and writes it to wherever reports go. 0 or a negative errno. */
int counting_write_report(struct counting *counting, bool last);

/* The same for the tally so far, in stdout's format, only to `out`. */
int counting_print_report(struct counting *counting, FILE *out);

/* Of the run so far. */
void counting_add_losses(const struct counting *counting, struct missing *missing);

#endif
