/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A file that appears whole or not at all: it is written to a temporary file, which replaces the
 * target once all of it is on the disk. Links are followed by a safe path, and their target is
 * replaced. The new file gets the mode and, if we may set it, the owner of the old one; a file that
 * the user may not write to is refused, as by a shell's `>`. Anything but a regular file (a device,
 * a FIFO, a descriptor by /dev/fd/N) is written to directly.
 */
#ifndef STACKBOX_REPORT_ATOMIC_FILE_H
#define STACKBOX_REPORT_ATOMIC_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/text.h"

/*
 * A path walked component by component, each opened relative to the last one's directory, so that
 * the walk checks every link. In a directory that every user may write to, it follows only root's
 * and our own links: another user's would let its owner choose what we overwrite. Kernels do this,
 * too, if fs.protected_symlinks is set. The links in /proc are the kernel's own.
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
    struct text aside;  /* the temporary file's path; "": it has no name yet */
    bool special;       /* not a regular file */
    bool anew;          /* must not replace a file */
    struct safe_path target;
};

/* `anew`: must not replace a file. 0 or a negative errno: nothing is then left open. */
int atomic_file_open(struct atomic_file *file, const char *path, bool anew);
/*
 * Moves it into place. 0, or a negative errno, and the old file stays. Closes it, except for
 * -EEXIST.
 */
int atomic_file_finish(struct atomic_file *file);
/* After -EEXIST, for a file that replaces nothing: tries another name in the same directory. */
int atomic_file_rename(struct atomic_file *file, const char *path);
/* Drops the new file: the old one stays. */
void atomic_file_drop(struct atomic_file *file);

/* Could it be written, as far as can be told without writing? 0 or a negative errno. */
int atomic_file_check(const char *path);

#endif
