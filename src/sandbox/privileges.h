/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Giving up privileges: in the processes of sandbox.c, and in ours once tracing runs. */
#ifndef STACKBOX_SANDBOX_PRIVILEGES_H
#define STACKBOX_SANDBOX_PRIVILEGES_H

#include <linux/filter.h>

/* Keeps only the capabilities to open other processes' files. 0 or a negative errno. */
int privileges_keep_opening(void);

/* Keeps only the capabilities that running traces need. 0 or a negative errno. */
int privileges_keep_tracing(void);

/* Keeps no capability; becomes a user of its own, or nobody, if possible. 0 or a negative errno. */
int privileges_keep_none(void);

/*
 * From now on all system calls but those for reading, computing and answering fail with EPERM. Does
 * nothing if the kernel has no seccomp filters, or the machine is unknown. 0 or a negative errno.
 */
int privileges_filter_calls(void);

#define SANDBOX_FILTER_ROOM 128

/*
 * Writes the seccomp filter for the machine that this program was built for. Returns its number of
 * instructions; 0: the machine is unknown.
 */
unsigned short sandbox_filter_make(struct sock_filter filter[SANDBOX_FILTER_ROOM]);

#endif
