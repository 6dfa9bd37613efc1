/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What a run exits with beside 0 and EXIT_FAILURE. */
#ifndef STACKBOX_BASE_EXITS_H
#define STACKBOX_BASE_EXITS_H

enum {
    EXIT_USAGE = 2, /* the command line is wrong */
    EXIT_GREW = 3,  /* what was compared has grown by more than was allowed */
    /* Of a run with a command, as env(1) has them. */
    EXIT_TRACER = 125, /* tracing failed: what it is otherwise 1 for */
    EXIT_NOT_RUN = 126,
    EXIT_NOT_FOUND = 127,
};

#endif
