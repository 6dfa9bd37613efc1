/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Where files of programs may be: nothing else is opened for the reader. */
#ifndef STACKBOX_APART_APART_PLACES_H
#define STACKBOX_APART_APART_PLACES_H

#include <stdbool.h>

/*
 * May what this descriptor (O_PATH, too) refers to be a program's file? Not in a file system that
 * is an interface of the kernel, such as procfs: a file there may be another process's memory. What
 * was opened *through* one (/proc/PID/exe) is elsewhere and judged by that.
 */
bool place_has_programs(int fd);
/* The same for a path. */
bool path_has_programs(const char *path);

#endif
