/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Would the kernel let us collect by rings? */
#ifndef STACKBOX_RINGS_RINGS_TRY_H
#define STACKBOX_RINGS_RINGS_TRY_H

#include <stdbool.h>

#include "base/text.h"

/* Events of everybody, or of what is our own; of the kernel, too, or of its user part. 0 or a negative errno. */
int rings_try(bool own, bool kernel);
/* Why that was refused and, behind ": ", what to do about it. */
void rings_explain(int error, struct text *sentence);

#endif
