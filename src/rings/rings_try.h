/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Would the kernel let us collect through rings? */
#ifndef STACKBOX_RINGS_RINGS_TRY_H
#define STACKBOX_RINGS_RINGS_TRY_H

#include <stdbool.h>

#include "base/text.h"

/*
 * Events of everybody, or only our own; including the kernel, or only the user part. 0 or a
 * negative errno.
 */
int rings_try(bool own, bool kernel);
/* Why that was refused and, after ": ", what to do about it. */
void rings_explain(int error, struct text *sentence);

#endif
