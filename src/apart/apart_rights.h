/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rights are given up: by the processes of apart.c, and by us once tracing runs. */
#ifndef STACKBOX_APART_APART_RIGHTS_H
#define STACKBOX_APART_APART_RIGHTS_H

#include "insns/machine.h"

/* Keeps no capabilities but those that opening files of other processes takes. 0 or a negative errno. */
int rights_keep_opening(void);

/* Sheds what nothing needs once tracing runs: see there. 0 or a negative errno. */
int rights_keep_tracing(void);

/* Keeps none; becomes nobody where that is possible. 0 or a negative errno. */
int rights_keep_none(void);

/*
 * From now on system calls but those that reading, computing and answering take fail with EPERM.
 * Where the kernel or this machine has no such filter all is as before. 0 or a negative errno.
 */
int rights_filter_calls(const struct machine *machine);

#endif
