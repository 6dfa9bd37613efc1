/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A path walked part by part, each from the directory that the one before led to, so that every link on
 * the way is seen. In a directory that everybody may write to no link is followed but root's and one's
 * own: whoever put it there would say what is written, whatever it leads to. Kernels do this, too, where
 * fs.protected_symlinks is set. The links of /proc are the kernel's own.
 */
#ifndef STACKBOX_REPORT_WALKED_PATH_H
#define STACKBOX_REPORT_WALKED_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct walked_path {
    int directory;          /* where the path ends, by O_PATH; the caller closes it */
    char name[NAME_MAX + 1]; /* in it; "": the directory itself */
    bool kernels;           /* a link of /proc to what has no other name, such as a pipe: to be followed */
    bool there;             /* something is: */
    struct stat about;      /* this, which is no link */
};

/* 0 or a negative errno, -EACCES for a stranger's link: then nothing is left open. */
int walk_path(struct walked_path *walked, const char *path);

#endif
