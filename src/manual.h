/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Help and man pages, printed from an applet's tables. */
#ifndef STACKBOX_MANUAL_H
#define STACKBOX_MANUAL_H

#include <stdio.h>

#include "applet.h"

/* For a terminal of 80 columns. */
void manual_help(FILE *out, const struct applet *applet);
/* roff, by the man(7) macros. */
void manual_man(FILE *out, const struct applet *applet);

/* The same of stackbox itself: the list of applets. */
void manual_list(FILE *out);
void manual_main_help(FILE *out);
void manual_main_man(FILE *out);

#endif
