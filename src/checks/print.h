/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Checks and what they mean for applets, as text or as JSON. */
#ifndef STACKBOX_CHECKS_PRINT_H
#define STACKBOX_CHECKS_PRINT_H

#include <stdio.h>

#include "checks/checks.h"

/* An applet that was asked about. */
struct judged {
    const char *applet;
    struct verdict verdict;
};

/* Errors of `out` show when it is flushed. 0 or -ENOMEM. */
int checks_print_text(FILE *out, const struct checks *checks, const struct judged *judged,
                      size_t count);
int checks_print_json(FILE *out, const struct checks *checks, const struct judged *judged,
                      size_t count);

#endif
