/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Exit statuses beside 0 and EXIT_FAILURE. */
#ifndef STACKBOX_BASE_EXITS_H
#define STACKBOX_BASE_EXITS_H

enum {
    EXIT_USAGE = 2, /* the command line is wrong */
    EXIT_GREW = 3,  /* a comparison found more growth than allowed */
    /* Of a run with a command, as in env(1). */
    EXIT_TRACER = 125, /* tracing failed: 1 in a run without a command */
    EXIT_NOT_RUN = 126,
    EXIT_NOT_FOUND = 127,
};

#endif
