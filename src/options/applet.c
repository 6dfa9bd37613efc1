/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "options/applet.h"

#include <errno.h>
#include <stdlib.h>

#include "base/exits.h"
#include "base/say.h"
#include "base/text.h"

const struct option common_options[] = {
    {'h', NULL, NULL, option_brief, 0, 0, 0, NULL},
    {0, "help", NULL, option_help, 0, 0, 0, "print this help; -h is a short one"},
    {0, "man", NULL, option_man, 0, 0, 0, "print the man page, for man -l - or a file"},
    {0},
};

int applet_refuse(int result, const struct text *error, bool has_command)
{
    bool is_usage = result != -ENOMEM && !error->failed;

    say("%s", is_usage && error->data ? error->data : "out of memory");
    return is_usage ? EXIT_USAGE : has_command ? EXIT_TRACER : EXIT_FAILURE;
}
