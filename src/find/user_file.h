/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A program or library to put probes into. */
#ifndef STACKBOX_FIND_USER_FILE_H
#define STACKBOX_FIND_USER_FILE_H

#include <sys/stat.h>

#include "elf/elf.h"
#include "find/find.h"
#include "find/library.h"
#include "find/pattern.h"
#include "find/place.h"

struct user_file {
    struct library library;
    struct elf elf;
    struct elf_unpacked unpacked; /* of the elf */
    int trouble; /* of the elf: see elf_open_watched() */
};

/*
 * Finds and opens what `typed` means. 0, or a negative errno with one line in `error`, also for a
 * file without code that runs here. user_file_close after 0; until then it must not be moved.
 */
int user_file_open(struct user_file *file, const struct library_where *where, const char *typed,
                   struct text *error);
/* The same for file->library, which is open and stays the caller's: user_file_forget() after 0. */
int user_file_read(struct user_file *file, struct text *error);
void user_file_forget(struct user_file *file);
void user_file_close(struct user_file *file);

/*
 * Adds each function in the file that `pattern`, a PATTERN_USER_FUNCTION, matches; *matched is how
 * many, aliases included. Skips IFUNC resolvers, which only choose another function. 0, or a
 * negative errno with one line in `error` (none for -ENOMEM): -ENOENT if none matches.
 */
int user_functions_find(const struct user_file *file, const struct pattern *pattern,
                        struct places *places, size_t *matched, struct text *error);

/*
 * Adds each site of each probe in the file that `pattern`, a PATTERN_USDT, matches; *matched is how
 * many sites. 0, or a negative errno with one line in `error` (none for -ENOMEM): -ENOENT if none
 * matches.
 */
int usdt_find(const struct user_file *file, const struct pattern *pattern, struct places *places,
              size_t *matched, struct text *error);

/*
 * Removes the places from `first` on, all in this file, that are not known to be ARM instructions.
 * If any are left, a sentence in `left_out` says how many were removed (unless there is one
 * already); if none is, -ENOTSUP with one line in `error`. 0 or another negative errno otherwise.
 */
int thumb_remove(const struct user_file *file, const struct pattern *pattern,
                 struct places *places, size_t first, struct text *left_out, struct text *error);

/* Patterns for programs and libraries: all their files are read in the sandbox. */

/* As find_places(), for these patterns. */
int find_user_places(struct find *find, struct text *error);

/*
 * Appends the places from index `known` on, the numbers of matches, and `result` with its `error`.
 * If memory runs out, sets answer->failed.
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
 * Opens the files that the sandbox has answered, if a pattern may mean them. 0, with the search's
 * result in *found and a line in `error`; or -EBADMSG or -ENOMEM.
 */
int find_files_take(struct find *find, const struct library_where *where, const struct text *bytes,
                    int *found, struct text *error);

#endif
