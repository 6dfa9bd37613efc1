/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The list of applets. */
#ifndef STACKBOX_APPLETS_APPLETS_H
#define STACKBOX_APPLETS_APPLETS_H

#include "options/applet.h"

extern const struct applet stackcount_applet;
extern const struct applet profile_applet;
extern const struct applet offcputime_applet, wakeuptime_applet, offwaketime_applet;
extern const struct applet walltime_applet;
extern const struct applet stacksnoop_applet;
extern const struct applet report_applet;
extern const struct applet flamegraph_applet;
extern const struct applet check_applet;

/* All of them, up to a NULL: the one table. */
extern const struct applet *const applets[];

/* The one of that name, or NULL. */
const struct applet *applet_find(const char *name);

#endif
