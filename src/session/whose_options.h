/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The options that say whose events count: which processes, threads by name, users. */
#ifndef STACKBOX_SESSION_WHOSE_OPTIONS_H
#define STACKBOX_SESSION_WHOSE_OPTIONS_H

#include <stdbool.h>

#include "options/options.h"
#include "tally/tally.h"

/* Names of threads, as the kernel has them: filled up with zeros. */
struct comm_list {
    char names[MOST_STRINGS][COMM_BYTES];
    size_t count;
};

/* Parsers; the comment is the type of the destination. Several may be joined by commas. */
int whose_processes(const struct option *, const char *, void *, struct text *); /* number_list */
int whose_names(const struct option *, const char *, void *, struct text *);     /* comm_list */
int whose_users(const struct option *, const char *, void *, struct text *);     /* number_list */

/* Is it the name of a user? */
bool whose_user_exists(const char *name);

#endif
