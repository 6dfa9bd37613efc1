/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From patterns to functions of the running kernel. */
#ifndef STACKBOX_FIND_KERNEL_FUNCTIONS_H
#define STACKBOX_FIND_KERNEL_FUNCTIONS_H

#include "find/pattern.h"
#include "find/place.h"

/*
 * Adds each function that one of `count` patterns matches, in one pass over `kallsyms`, an open
 * /proc/kallsyms; other kinds of patterns are skipped. matched[i] is how many pattern i matched: a
 * static function's name may be there several times. Functions that cannot be traced are included:
 * only trying tells. 0 or a negative errno.
 */
int kernel_functions_find(int kallsyms, const struct pattern *patterns, size_t count,
                          struct places *places, size_t *matched);

/*
 * Sets the error of functions that ftrace does not list as traceable. Reading that list takes time,
 * so this is for when an attempt without it failed. 0, or a negative errno if there is no list.
 */
int kernel_functions_sift(int tracefs, struct place *const *functions, size_t count);

/*
 * Is each offset within its function? 0, -ERANGE with one line in `error`, or another negative
 * errno.
 */
int kernel_functions_check_offsets(int kallsyms, const struct places *places, struct text *error);

/* Appends "; near: a, b" for a name that is not a function's. */
int kernel_functions_near(int kallsyms, const char *name, struct text *near);

#endif
