/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "applets/applets.h"

#include <stddef.h>
#include <string.h>

const struct applet *const applets[] = {
    &stackcount_applet,
    &profile_applet,
    &offcputime_applet,
    &wakeuptime_applet,
    &offwaketime_applet,
    &walltime_applet,
    &stacksnoop_applet,
    &report_applet,
    &flamegraph_applet,
    &check_applet,
    NULL,
};

const struct applet *applet_find(const char *name)
{
    for (const struct applet *const *applet = applets; *applet; applet++)
        if (!strcmp((*applet)->name, name))
            return *applet;
    return NULL;
}
