/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The running kernel's LINUX_VERSION_CODE: kernels before 5.0 load no kprobe program without it.
 * uname(2) may differ: its third number goes beyond 255, and distributions change it.
 */
#ifndef STACKBOX_KERNEL_OWN_VERSION_H
#define STACKBOX_KERNEL_OWN_VERSION_H

#include <stdint.h>

/* From the note in the vDSO, which the kernel maps into each process; 0: there is none. */
uint32_t own_version(void);

#endif
