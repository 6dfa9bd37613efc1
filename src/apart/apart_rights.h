/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Giving up privileges: in the processes of apart.c, and in ours once tracing runs. */
#ifndef STACKBOX_APART_APART_RIGHTS_H
#define STACKBOX_APART_APART_RIGHTS_H

#include "insns/machine.h"

/* Keeps only the capabilities that opening other processes' files takes. 0 or a negative errno. */
int rights_keep_opening(void);

/* Drops what nothing needs once tracing runs: see there. 0 or a negative errno. */
int rights_keep_tracing(void);

/* Keeps no capability; becomes a user of its own, or nobody, where possible. 0 or a negative errno. */
int rights_keep_none(void);

/*
 * From now on all system calls but those for reading, computing and answering fail with EPERM. Does
 * nothing if the kernel or this machine has no such filter. 0 or a negative errno.
 */
int rights_filter_calls(const struct machine *machine);

#endif
