/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A file that appears whole or not at all: it is written aside, and replaces what was there only
 * when everything is on the disk. Links are followed, and what they lead to is replaced, except for
 * a stranger's in a place where everybody may put one (walked_path.h). It gets the mode and, if we
 * may give it away, the owner of the file that it replaces; a file that the user may not write to
 * is left alone, as by a shell's `>`. Anything but a regular file (a device, a FIFO, a descriptor
 * by /dev/fd/N) is written to directly.
 */
#ifndef STACKBOX_REPORT_WHOLE_FILE_H
#define STACKBOX_REPORT_WHOLE_FILE_H

#include <stdio.h>

#include "base/text.h"
#include "report/walked_path.h"

struct whole_file {
    FILE *out;          /* to write to */
    char *buffer;       /* its stdio buffer, or NULL */
    struct text aside;  /* where it is written; "": it has no name yet */
    bool special;       /* not a regular file */
    bool anew;          /* replaces nothing */
    struct walked_path target;
};

/* 0 or a negative errno: nothing is then left open. */
int whole_file_open(struct whole_file *file, const char *path);
/* The same for a file that replaces nothing: an existing one stays. */
int whole_file_open_anew(struct whole_file *file, const char *path);
/*
 * Moves it into place. 0 or a negative errno: what was there is then still there. Closes it, except
 * for -EEXIST.
 */
int whole_file_finish(struct whole_file *file);
/* After -EEXIST, for a file that replaces nothing: tries another name in the same directory. */
int whole_file_rename(struct whole_file *file, const char *path);
/* Leaves everything as it was. */
void whole_file_drop(struct whole_file *file);

/* Could it be written, as far as can be told without writing? 0 or a negative errno. */
int whole_file_check(const char *path);

#endif
