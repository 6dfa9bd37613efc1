/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A file that appears whole or not at all: it is written aside, and replaces what was there only
 * when everything is on the disk. Links are followed, by a safe path, and what they lead to is
 * replaced. It gets the mode and, if we may give it away, the owner of the file that it replaces; a
 * file that the user may not write to is left alone, as by a shell's `>`. Anything but a regular
 * file (a device, a FIFO, a descriptor by /dev/fd/N) is written to directly.
 */
#ifndef STACKBOX_REPORT_ATOMIC_FILE_H
#define STACKBOX_REPORT_ATOMIC_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/text.h"

/*
 * A path walked part by part, each from the directory that the one before led to, so that every
 * link on the way is seen. In a directory that every user may write to, only root's and our own
 * links are followed: another user's would let its owner choose what is overwritten. Kernels do
 * this, too, if fs.protected_symlinks is set. The links in /proc are the kernel's own.
 */
struct safe_path {
    int directory;          /* where the path ends, opened with O_PATH; the caller closes it */
    char name[NAME_MAX + 1]; /* in it; "": the directory itself */
    bool kernels;           /* a link in /proc to something unnamed, such as a pipe: follow it */
    bool there;             /* it exists: */
    struct stat about;      /* with this stat, which is not a link's */
};

/* 0 or a negative errno, -EACCES for another user's link: nothing is then left open. */
int safe_path_walk(struct safe_path *walked, const char *path);

struct atomic_file {
    FILE *out;          /* to write to */
    char *buffer;       /* its stdio buffer, or NULL */
    struct text aside;  /* where it is written; "": it has no name yet */
    bool special;       /* not a regular file */
    bool anew;          /* replaces nothing */
    struct safe_path target;
};

/* 0 or a negative errno: nothing is then left open. */
int atomic_file_open(struct atomic_file *file, const char *path);
/* The same for a file that replaces nothing: an existing one stays. */
int atomic_file_open_anew(struct atomic_file *file, const char *path);
/*
 * Moves it into place. 0 or a negative errno: what was there is then still there. Closes it, except
 * for -EEXIST.
 */
int atomic_file_finish(struct atomic_file *file);
/* After -EEXIST, for a file that replaces nothing: tries another name in the same directory. */
int atomic_file_rename(struct atomic_file *file, const char *path);
/* Leaves everything as it was. */
void atomic_file_drop(struct atomic_file *file);

/* Could it be written, as far as can be told without writing? 0 or a negative errno. */
int atomic_file_check(const char *path);

#endif
