/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where files of programs may lie: nothing else is opened for who reads them. */
#ifndef STACKBOX_APART_APART_PLACES_H
#define STACKBOX_APART_APART_PLACES_H

#include <stdbool.h>

/*
 * May what this descriptor is of, which may be O_PATH's, be a file of a program? Not in a file system
 * that is the kernel's own face, as procfs is: there a file may be another process's memory. What was
 * opened *through* one (/proc/PID/exe) lies elsewhere, and is judged by that.
 */
bool place_has_programs(int fd);
/* The same of a path. */
bool path_has_programs(const char *path);

#endif
