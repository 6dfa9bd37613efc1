/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Would the kernel let us collect by rings? */
#ifndef STACKBOX_RINGS_RINGS_TRY_H
#define STACKBOX_RINGS_RINGS_TRY_H

#include <stdbool.h>

/* Events of everybody, or of what is our own. 0 or a negative errno. */
int rings_try(bool own);

#endif
