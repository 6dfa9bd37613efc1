/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A path walked part by part, each from the directory that the one before led to, so that every
 * link on the way is seen. In a directory that everybody may write to, only root's and our own
 * links are followed: anybody else's would let its owner choose what is overwritten. Kernels do
 * this, too, if fs.protected_symlinks is set. The links in /proc are the kernel's own.
 */
#ifndef STACKBOX_REPORT_WALKED_PATH_H
#define STACKBOX_REPORT_WALKED_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct walked_path {
    int directory;          /* where the path ends, opened with O_PATH; the caller closes it */
    char name[NAME_MAX + 1]; /* in it; "": the directory itself */
    bool kernels;           /* a link in /proc to something unnamed, such as a pipe: follow it */
    bool there;             /* it exists: */
    struct stat about;      /* with this stat, which is not a link's */
};

/* 0 or a negative errno, -EACCES for a stranger's link: nothing is then left open. */
int walk_path(struct walked_path *walked, const char *path);

#endif
