/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* From function patterns to the functions of this kernel. */
#ifndef STACKBOX_FIND_KERNEL_FUNCTIONS_H
#define STACKBOX_FIND_KERNEL_FUNCTIONS_H

#include "find/pattern.h"
#include "find/place.h"

/*
 * Adds each function that one of `count` patterns matches, in one pass over `kallsyms`, an open
 * /proc/kallsyms; patterns of other kinds are passed over. matched[i] is how many pattern i matched:
 * a static function's name may be there several times. What cannot be traced is among them: only
 * trying tells. 0 or a negative errno.
 */
int kernel_functions_find(int kallsyms, const struct pattern *patterns, size_t count,
                          struct places *places, size_t *matched);

/*
 * Sets the error of those functions that ftrace does not list as traceable. Costs a reading of that
 * list, so it is for when an attempt without it failed. 0, or a negative errno when there is no list.
 */
int kernel_functions_sift(int tracefs, struct place *const *functions, size_t count);

/*
 * Does each offset lead into the function that it is of, not behind its end? 0, -ERANGE with one
 * line in `error`, or another negative errno.
 */
int kernel_functions_check_offsets(int kallsyms, const struct places *places, struct text *error);

/* Appends "; near: a, b" for a name that no function has. */
int kernel_functions_near(int kallsyms, const char *name, struct text *near);

#endif
