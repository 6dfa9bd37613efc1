/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Help and man pages, printed from an applet's tables. */
#ifndef STACKBOX_OPTIONS_MANUAL_H
#define STACKBOX_OPTIONS_MANUAL_H

#include <stdio.h>

#include "options/applet.h"

/* For a terminal of 80 columns. */
void manual_help(FILE *out, const struct applet *applet);
/* roff, by the man(7) macros. */
void manual_man(FILE *out, const struct applet *applet);

/* The applets, a line each. */
void manual_list(FILE *out);
/* Help and man page of stackbox itself, whose own options these are: tables, up to a NULL. */
void manual_main_help(FILE *out, const struct option *const *options);
void manual_main_man(FILE *out, const struct option *const *options);

#endif
