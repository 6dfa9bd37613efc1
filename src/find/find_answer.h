/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the process apart found for patterns, as bytes: written there, and read here without
 * trusting it.
 */
#ifndef STACKBOX_FIND_FIND_ANSWER_H
#define STACKBOX_FIND_FIND_ANSWER_H

#include "find/find.h"

/* Does the pattern mean places in programs and libraries? */
bool find_is_users(const struct pattern *pattern);

/* Why what the process apart answered cannot be used. */
void find_explain_apart(int result, int signal, struct text *error);

/*
 * The places from index `known` on, the numbers of matches, and `result` with its `error`. If
 * memory runs out, answer->failed is set.
 */
void find_answer_write(const struct find *find, size_t known, int result, const struct text *error,
                       struct text *answer);

/*
 * Adds the places and sets the numbers of matches. 0, with the result from there in *found and
 * `error`; -EBADMSG, with everything unchanged, for invalid bytes; or -ENOMEM.
 */
int find_answer_read(const char *bytes, size_t length, struct find *find, int *found,
                     struct text *error);

#endif
