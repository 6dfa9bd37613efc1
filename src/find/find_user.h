/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Patterns for programs and libraries: all their files are read in the sandbox. */
#ifndef STACKBOX_FIND_FIND_USER_H
#define STACKBOX_FIND_FIND_USER_H

#include <sys/stat.h>

#include "find/find.h"
#include "find/library.h"

/* As find_places(), for these patterns. */
int find_user_places(struct find *find, struct text *error);

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

struct found_file {
    const char *typed; /* a pattern's */
    struct library library;
    struct stat about;
};

void find_files_free(struct find *find);

/*
 * Opens what the sandbox has answered, if a pattern may mean it. 0, with what the search came
 * to in *found and a line in `error`; or -EBADMSG or -ENOMEM.
 */
int find_files_take(struct find *find, const struct library_where *where, const struct text *bytes,
                    int *found, struct text *error);

#endif
