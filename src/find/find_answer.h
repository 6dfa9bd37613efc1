/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the process apart found of patterns, as bytes: written there, and read here as a stranger's.
 */
#ifndef STACKBOX_FIND_FIND_ANSWER_H
#define STACKBOX_FIND_FIND_ANSWER_H

#include "find/find.h"

/* Is it a pattern whose places are in programs and libraries? */
bool find_is_users(const struct pattern *pattern);

/*
 * The places from the `known` first on, what matched, and `result` with its `error`. Where memory runs
 * out answer->failed says so.
 */
void find_answer_write(const struct find *find, size_t known, int result, const struct text *error,
                       struct text *answer);

/*
 * Adds the places, and sets what matched. 0, with what was the result there in *found and `error`;
 * -EBADMSG, with everything as it was, for what nobody here writes; or -ENOMEM.
 */
int find_answer_read(const char *bytes, size_t length, struct find *find, int *found,
                     struct text *error);

#endif
