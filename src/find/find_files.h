/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which files the patterns mean. The process apart looks for them, as that reads files of others,
 * too; what it says is checked and opened here, and only that is read and probed afterwards.
 */
#ifndef STACKBOX_FIND_FIND_FILES_H
#define STACKBOX_FIND_FIND_FILES_H

#include <sys/stat.h>

#include "find/find.h"
#include "find/library.h"

struct found_file {
    const char *typed; /* a pattern's */
    struct library library;
    struct stat about;
};

/*
 * Opens find->files, one for each name that a pattern has for a file. 0, or a negative errno with
 * one line in `error`. find_files_free after either.
 */
int find_files_open(struct find *find, const struct library_where *where, struct text *error);
void find_files_free(struct find *find);

/*
 * Opens what the process apart has answered, if a pattern may mean it. 0, with what the search came
 * to in *found and a line in `error`; or -EBADMSG or -ENOMEM.
 */
int find_files_take(struct find *find, const struct library_where *where, const struct text *bytes,
                    int *found, struct text *error);

/* The one that a pattern means. */
struct found_file *find_file_of(const struct find *find, const struct pattern *pattern);

#endif
