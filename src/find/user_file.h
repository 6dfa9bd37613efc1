/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* A program or library to put probes into. */
#ifndef STACKBOX_FIND_USER_FILE_H
#define STACKBOX_FIND_USER_FILE_H

#include "elf/elf.h"
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
 * Adds the instruction at `address`; `place` has the rest, its `name` without the file's, and
 * `start` only to say whether it is known to be a function's first: START_NONE or any other. 0,
 * -EFAULT if there is no code, or another negative errno.
 */
int user_file_add(const struct user_file *file, const struct place *place, uint64_t address,
                  struct places *places);

/*
 * Sets `start` of the places from `first` on, all in this file, that have START_NONE, by where they
 * are in their functions. 0, -ERANGE with one line in `error` if a return probe is within a
 * function, not at its start, or another negative errno.
 */
int user_file_find_starts(const struct user_file *file, struct places *places, size_t first,
                          struct text *error);

#endif
