/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Help and man pages, printed from the applets' tables. `all` are all applets, up to a NULL. */
#ifndef STACKBOX_OPTIONS_MANUAL_H
#define STACKBOX_OPTIONS_MANUAL_H

#include <stdio.h>

#include "options/applet.h"

/* For a terminal of 80 columns: the options needed most, on one screen, and everything. */
void manual_brief(FILE *out, const struct applet *applet);
void manual_help(FILE *out, const struct applet *applet);
/* roff, with the man(7) macros. */
void manual_man(FILE *out, const struct applet *applet, const struct applet *const *all);

/* The applets, one per line. */
void manual_list(FILE *out, const struct applet *const *all);
/* Help and man page of stackbox itself; `options` are its own tables, up to a NULL. */
void manual_main_help(FILE *out, const struct option *const *options,
                      const struct applet *const *all);
void manual_main_man(FILE *out, const struct option *const *options,
                     const struct applet *const *all);

#endif
