/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A report of what was counted, in all its formats, and what is missing of it. Part of counting. */
#ifndef STACKBOX_COUNTING_COUNTING_REPORT_H
#define STACKBOX_COUNTING_COUNTING_REPORT_H

#include "counting/counting.h"

/* Names what is in the tally, and writes it to where reports go. 0 or a negative errno. */
int counting_write_report(struct counting *counting, bool last);

/* Of the run until now. */
void counting_add_losses(const struct counting *counting, struct missing *missing);

#endif
