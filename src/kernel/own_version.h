/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the running kernel calls its version in its code: kernels before 5.0 load no kprobe program that does not
 * repeat it. uname(2) may say something else: its third number goes beyond 255, and distributions have their own.
 */
#ifndef STACKBOX_KERNEL_OWN_VERSION_H
#define STACKBOX_KERNEL_OWN_VERSION_H

#include <stdint.h>

/* From the note in the vDSO, which the kernel maps into each process; 0: there is none. */
uint32_t own_version(void);

#endif
