/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A file that appears whole or not at all: written aside, and put in the place of what was there
 * before only when everything is on the disk. Links are followed, and what they lead to is replaced, but
 * for a stranger's where everybody may put one (walked_path.h). It has the mode and, where we may give it
 * away, the owner of the file that it replaces; a file that one may not write to is left alone, as by a
 * shell's `>`. What is no regular file (a device, a FIFO, a descriptor by /dev/fd/N) is written to as it
 * is.
 */
#ifndef STACKBOX_REPORT_WHOLE_FILE_H
#define STACKBOX_REPORT_WHOLE_FILE_H

#include <stdio.h>

#include "base/text.h"
#include "report/walked_path.h"

struct whole_file {
    FILE *out;          /* to write to */
    char *buffer;       /* what it collects in, or NULL */
    struct text aside;  /* where it is written; "": it has no name yet */
    bool special;       /* no regular file */
    bool anew;          /* takes nobody's place */
    struct walked_path target;
};

/* 0 or a negative errno: then nothing is left open. */
int whole_file_open(struct whole_file *file, const char *path);
/* The same for one that takes nobody's place: whatever has that name stays. */
int whole_file_open_anew(struct whole_file *file, const char *path);
/* Puts it in place. 0 or a negative errno: then what was there is there still. Closes it, but for -EEXIST. */
int whole_file_finish(struct whole_file *file);
/* After -EEXIST, of one that takes nobody's place: another name in the same directory. */
int whole_file_rename(struct whole_file *file, const char *path);
/* Leaves everything as it was. */
void whole_file_drop(struct whole_file *file);

/* Could it be written, as far as can be told without? 0 or a negative errno. */
int whole_file_check(const char *path);

#endif
